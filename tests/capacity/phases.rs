//! The first article's three phases, with both options of the third: what each holds and what each move touches.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::command::{Run, eniplan, fixture};

fn plan(fixture_name: &str, further: &[&str]) -> Run {
    let input = ["plan", "--inventory", "inventory.json", "--config", "eniplan.yaml"];
    eniplan(&fixture(fixture_name), &[&input[..], further].concat())
}

fn json_of(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stderr))
}

#[test]
fn all_phases_of_both_fixtures() {
    let mut page = String::new();
    for name in ["phases", "phases-hash"] {
        let capacity =
            eniplan(&fixture(name), &["capacity", "--inventory", "inventory.json", "--phases", "--growth", "batch=12"]);
        writeln!(page, "==> {name}: eniplan capacity --phases: exit {}\n{}", capacity.code, capacity.stdout).unwrap();
        writeln!(page, "==> standard error\n{}", capacity.stderr).unwrap();
        for phase in ["second", "third"] {
            let run = plan(name, &["--phase", phase]);
            writeln!(page, "==> {name}: eniplan plan --phase {phase}: exit {}\n{}", run.code, run.stdout).unwrap();
        }
    }
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(page);
    });
}

fn changes(moved: &Value) -> Vec<(&str, &str, usize)> {
    let groups = moved["node_groups"].as_array().unwrap();
    groups
        .iter()
        .map(|group| {
            let replaced = group["nodes_replaced"].as_array().unwrap().len();
            (group["name"].as_str().unwrap(), group["change"].as_str().unwrap(), replaced)
        })
        .collect()
}

#[test]
fn a_move_touches_only_what_the_article_says() {
    for (name, phase, expected) in [
        // A second pod subnet in each zone, for the nodes of one group; the others stay on the zone's.
        ("phases", "second", &[("batch", "replaced", 3), ("web", "untouched", 0)][..]),
        // Option one: a further group with pod subnets of its own.
        ("phases", "third", &[("batch", "untouched", 0), ("jobs", "new", 0), ("web", "untouched", 0)]),
        // Option two: the nodes of one group choose among several.
        ("phases-hash", "third", &[("batch", "replaced", 3), ("web", "untouched", 0)]),
    ] {
        let moved = &json_of(&plan(name, &["--phase", phase, "-o", "json"]))["move"];
        assert_eq!(changes(moved), expected, "{name} {phase}");
        assert_eq!(moved["cni_settings"], json!({}), "{name} {phase}");
        assert_eq!(moved["eni_configs_added"].as_array().unwrap().len(), 3, "{name} {phase}");
        assert_eq!(moved["eni_configs_unused"], json!([]), "{name} {phase}");
    }
}

#[test]
fn without_a_phase_only_the_top_level_spec_is_planned() {
    let plan = json_of(&plan("phases", &["-o", "json"]));
    assert_eq!(plan["move"], Value::Null);
    let names: Vec<&str> =
        plan["plan"]["eni_configs"].as_array().unwrap().iter().map(|config| config["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ap-southeast-1a", "ap-southeast-1b", "ap-southeast-1c"]);
}

#[test]
fn the_current_phase_of_the_file_is_planned_where_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture("phases").join("inventory.json"), folder.path().join("inventory.json")).unwrap();
    let text = std::fs::read_to_string(fixture("phases").join("eniplan.yaml")).unwrap();
    std::fs::write(folder.path().join("eniplan.yaml"), text + "  currentPhase: second\n").unwrap();
    let run = |further: &[&str]| {
        let input = ["plan", "--inventory", "inventory.json", "-o", "json"];
        json_of(&eniplan(folder.path(), &[&input[..], further].concat()))
    };
    assert_eq!(run(&[])["move"]["to"], "second");
    assert_eq!(run(&["--phase", "third"])["move"]["to"], "third");
    assert_eq!(run(&[])["plan"], json_of(&plan("phases", &["--phase", "second", "-o", "json"]))["plan"]);
}

#[test]
fn every_phase_holds_what_its_groups_need() {
    for name in ["phases", "phases-hash"] {
        let run = eniplan(&fixture(name), &["capacity", "--inventory", "inventory.json", "--phases", "-o", "json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let phases = json_of(&run)["phases"].clone();
        let figures: Vec<(Value, usize, Value)> = phases
            .as_array()
            .unwrap()
            .iter()
            .map(|phase| {
                let capacity = &phase["capacity"];
                (
                    phase["phase"].clone(),
                    capacity["pod_subnets"].as_array().unwrap().len(),
                    capacity["first_to_fill"]["node_group_fits"].clone(),
                )
            })
            .collect();
        // A /20 holds 204 full m5.large nodes, 612 in three zones; web's ten a zone leave batch 194 of them at first.
        let third = if name == "phases" { 612 } else { 1224 };
        let expected =
            [(Value::Null, 3, json!(582)), (json!("second"), 6, json!(612)), (json!("third"), 9, json!(third))];
        assert_eq!(figures, expected, "{name}");
    }
}

#[test]
fn a_phase_that_is_not_there_is_refused_with_those_that_are() {
    let run = plan("phases", &["--phase", "secnd"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("the phases are: second, third"), "{}", run.stderr);
}
