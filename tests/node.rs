#![allow(missing_docs, clippy::disallowed_methods)]
//! What runs on a node, run: bash is the judge of every rendered shell part.

#[path = "node/plans.rs"]
mod plans;

#[test]
fn dump() {
    for (name, group) in plans::al2023() {
        let s = eniplan::render::boot_script::al2023_shell_part(&group).unwrap();
        std::fs::write(format!("/tmp/dump-{name}.sh"), s).unwrap();
    }
}
