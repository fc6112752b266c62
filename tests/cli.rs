//! The console blocks of README and docs, run as they stand.

/// Blocks that start with `eniplan` are run; set-up lines are run by `tests/run`, and other tools are not ours to run.
#[test]
fn console_blocks_show_what_the_program_prints() {
    let ignored = || trycmd::schema::Bin::Ignore;
    trycmd::TestCases::new()
        .env("NO_COLOR", "1")
        .register_bin("cargo", ignored())
        .register_bin("tests/run", ignored())
        .register_bin("kubectl", ignored())
        .register_bin("aws", ignored())
        .case("README.md")
        .case("docs/*.md");
}
