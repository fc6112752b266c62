//! The question that apply asks on a terminal.

use std::process::{Command, Stdio};

use crate::apply::{Run, World};
use crate::bench::tools;

/// Runs `eniplan apply` on a terminal and answers its question.
fn answered(world: &World, answer: &str) -> Run {
    const TERMINAL: &str = r"
import os, pty, sys
pid, end = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:-1])
said, answered = b'', False
while True:
    try:
        piece = os.read(end, 4096)
    except OSError:
        break
    if not piece:
        break
    said += piece
    if not answered and b'Only `yes` is taken for yes' in said:
        answered = True
        os.write(end, sys.argv[-1].encode() + b'\n')
sys.stdout.buffer.write(said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";
    let program = world.command(&[]);
    let environment: Vec<_> = program.get_envs().filter_map(|(name, value)| Some((name, value?))).collect();
    let output = Command::new(tools().join("python/bin/python"))
        .args(["-c", TERMINAL, env!("CARGO_BIN_EXE_eniplan"), "apply", "--roll", "--poll-interval", "0.001", answer])
        .current_dir(world.folder.path())
        .env_clear()
        .envs(environment)
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Run::from(output)
}

#[test]
fn it_is_asked_once_and_only_yes_is_yes() {
    let world = World::of("quickstart");
    for no in ["y", "no", ""] {
        let run = answered(&world, no).ended(1).says("not confirmed").says("nothing was written");
        assert_eq!(run.stdout.matches("Only `yes`").count(), 1);
        assert_eq!(world.changing_calls(), Vec::<String>::new(), "{no:?}");
    }
    let run = answered(&world, "yes").ended(0);
    assert_eq!(run.stdout.matches("Only `yes`").count(), 1);
    assert!(world.changing_calls().contains(&"eks UpdateNodegroupVersion".to_owned()));
    // Where nothing differs, nothing is asked.
    let run = answered(&world, "yes").ended(0);
    assert_eq!(run.stdout.matches("Only `yes`").count(), 0);
}
