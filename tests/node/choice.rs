//! The script's own choice beside Rust's, and the quoting that both rest on.

use eniplan::render::boot_script::al2023_shell_part;

use crate::boot::instance_id;
use crate::machine::Machine;
use crate::plans;

#[test]
fn ten_thousand_nodes_choose_in_bash_as_in_rust() {
    let group = plans::hashed();
    let machine = Machine::new("http://127.0.0.1:1").current_image();
    let asked: Vec<(usize, String)> =
        (0..10_000).map(|number| (usize::try_from(number).expect("small") % 3, instance_id(number))).collect();
    let lines: String = asked.iter().map(|(row, id)| format!("{} {id}\n", group.assignments[*row].cidr)).collect();
    machine.write("ids", &lines);
    let run = machine.source(
        &al2023_shell_part(&group).expect("the plan renders"),
        r#"while read -r cidr id; do name=''; candidates "$cidr" && pick "$id"; echo "$id $name"; done <"$root/ids""#,
    );
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let expected: Vec<String> = asked
        .iter()
        .map(|(row, id)| {
            let candidates = &group.assignments[*row].candidates;
            let bounds: Vec<u64> = candidates.iter().map(|candidate| candidate.bound).collect();
            let chosen = eniplan::choose::choose(&bounds, id).expect("there are candidates");
            format!("{id} {}", candidates[chosen].eni_config)
        })
        .collect();
    assert_eq!(run.stdout.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn hashing_gives_every_candidate_its_share() {
    let group = plans::hashed();
    let candidates = &group.assignments[0].candidates;
    let bounds: Vec<u64> = candidates.iter().map(|candidate| candidate.bound).collect();
    let mut counts = [0_u32; 3];
    for number in 0..9_000 {
        counts[eniplan::choose::choose(&bounds, &instance_id(number)).expect("there are candidates")] += 1;
    }
    // Of 45: 20, 20 and 5. Three standard deviations of a binomial of 9000 are under 150.
    for (count, share) in counts.into_iter().zip([4_000_u32, 4_000, 1_000]) {
        assert!(count.abs_diff(share) < 150, "{counts:?}");
    }
}
