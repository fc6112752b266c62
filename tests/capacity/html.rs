//! The pages: nothing in them runs or comes from elsewhere, every picture has a name, and the numbers are the JSON's.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;

use super::command::{eniplan, fixture};

/// The page that a command writes beside its JSON.
fn page_and_json(fixture: &Path, arguments: &[&str]) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let input = ["--inventory", "inventory.json", "--config", "eniplan.yaml", "-o", "json"];
    let html = ["--html", page.to_str().unwrap()];
    let run = eniplan(fixture, &[arguments, &input[..], &html[..]].concat());
    let json = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stderr));
    (std::fs::read_to_string(page).unwrap(), json)
}

/// Name and page of every fixture under every verb, made once.
fn every_page() -> &'static [(String, String)] {
    static PAGES: OnceLock<Vec<(String, String)>> = OnceLock::new();
    PAGES.get_or_init(make_every_page)
}

fn make_every_page() -> Vec<(String, String)> {
    let root = fixture("");
    let mut folders: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let mut pages = Vec::new();
    for folder in folders {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        for arguments in [&["plan"][..], &["capacity", "--growth", "6", "--add", "/20"], &["capacity", "--phases"]] {
            pages.push((format!("{name} {arguments:?}"), page_and_json(&folder, arguments).0));
        }
    }
    pages
}

#[test]
fn nothing_in_a_page_runs_or_comes_from_elsewhere() {
    for (name, page) in every_page() {
        let lower = page.to_lowercase();
        for forbidden in [
            "<script",
            "javascript:",
            "http:",
            "https:",
            "//",
            "url(",
            "@import",
            " src=",
            " href=",
            "<link",
            "<iframe",
            "<object",
            "<embed",
            "<img",
            "<form",
            " onload=",
            " onclick=",
            " style=",
        ] {
            assert!(!lower.contains(forbidden), "{name} has {forbidden}");
        }
    }
}

/// Start tags with their attributes, and text, in order.
#[derive(Debug)]
enum Piece<'a> {
    Start(&'a str, BTreeMap<&'a str, &'a str>),
    End(&'a str),
    Text(&'a str),
}

/// The page in pieces. Attributes of ours never contain `>`: it is escaped.
fn pieces(page: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let body = page.split_once("</style>").unwrap().1;
    for (index, part) in body.split('<').enumerate() {
        if index == 0 {
            continue;
        }
        let (tag, text) = part.split_once('>').unwrap();
        match tag.strip_prefix('/') {
            Some(name) => pieces.push(Piece::End(name)),
            None => {
                let (name, rest) = tag.split_once(' ').unwrap_or((tag, ""));
                let mut quoted = rest.split('"');
                let mut attributes = BTreeMap::new();
                while let (Some(attribute), Some(value)) = (quoted.next(), quoted.next()) {
                    attributes.insert(attribute.trim().trim_end_matches('='), value);
                }
                pieces.push(Piece::Start(name, attributes));
            }
        }
        if !text.trim().is_empty() {
            pieces.push(Piece::Text(text.trim()));
        }
    }
    pieces
}

#[test]
fn every_picture_has_a_name_and_every_table_a_head() {
    for (name, page) in every_page() {
        let pieces = pieces(page);
        let ids: Vec<&str> = pieces
            .iter()
            .filter_map(
                |piece| if let Piece::Start(_, attributes) = piece { attributes.get("id").copied() } else { None },
            )
            .collect();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), ids.len(), "{name}: an id is there twice");
        for (index, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Start("svg", attributes) if attributes.get("aria-hidden") != Some(&"true") => {
                    assert_eq!(attributes["role"], "img", "{name}");
                    for id in attributes["aria-labelledby"].split(' ') {
                        assert!(ids.contains(&id), "{name}: no {id}");
                    }
                    let following: Vec<&str> = pieces[index..index + 8]
                        .iter()
                        .filter_map(|piece| if let Piece::Start(tag, _) = piece { Some(*tag) } else { None })
                        .collect();
                    assert_eq!(following[1..3], ["title", "desc"], "{name}");
                }
                Piece::Start("th", attributes) => assert_eq!(attributes["scope"], "col", "{name}"),
                Piece::Start("div", attributes) if attributes.get("class") == Some(&"scroll") => {
                    assert!(!attributes["aria-label"].is_empty(), "{name}");
                }
                _ => {}
            }
        }
    }
}

/// By phase, by table, by row: field → text.
type Tables = BTreeMap<String, BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>>>;

fn tables(page: &str) -> Tables {
    let mut tables = Tables::new();
    let (mut phase, mut table, mut row, mut field) = (String::new(), String::new(), String::new(), None);
    for piece in pieces(page) {
        match piece {
            Piece::Start("section", attributes) => phase = attributes["data-phase"].to_owned(),
            Piece::Start("table", attributes) => table = attributes["data-table"].to_owned(),
            Piece::Start("tr", attributes) => row = attributes.get("data-key").copied().unwrap_or_default().to_owned(),
            Piece::Start("td", attributes) => {
                field = Some(attributes["data-field"].to_owned());
                cell(&mut tables, &phase, &table, &row).insert(attributes["data-field"].to_owned(), String::new());
            }
            Piece::Text(text) => {
                if let Some(field) = field.take() {
                    cell(&mut tables, &phase, &table, &row).insert(field, text.to_owned());
                }
            }
            Piece::End("td") => field = None,
            Piece::Start(..) | Piece::End(_) => {}
        }
    }
    tables
}

fn cell<'a>(tables: &'a mut Tables, phase: &str, table: &str, row: &str) -> &'a mut BTreeMap<String, String> {
    let table = tables.entry(phase.to_owned()).or_default().entry(table.to_owned()).or_default();
    table.entry(row.to_owned()).or_default()
}

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => Some(items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")),
        // The JSON writes 5.0 where people read 5.
        Value::Number(number) => number.as_f64().map(|number| number.to_string()),
        other => Some(other.to_string()),
    }
}

/// Compares every cell with the field of the JSON that it names. Gives back how many it compared.
fn compare(name: &str, table: &BTreeMap<String, BTreeMap<String, String>>, rows: &[Value], key: &str) -> usize {
    assert_eq!(table.len(), rows.len(), "{name}");
    let mut compared = 0;
    for row in rows {
        let cells = &table[row[key].as_str().unwrap()];
        for (field, text) in cells {
            if ["at_max.fit", "node.at_start", "node.idle", "node.peak"].contains(&field.as_str()) {
                continue;
            }
            let value = row.pointer(&format!("/{}", field.replace('.', "/"))).unwrap_or(&Value::Null);
            match shown(value) {
                Some(value) => assert_eq!(*text, value, "{name} {} {field}", row[key]),
                None => assert!(["–", "?"].contains(&text.as_str()), "{name} {} {field}: {text}", row[key]),
            }
            compared += 1;
        }
    }
    compared
}

#[test]
fn the_numbers_are_those_of_the_json() {
    let mut compared = 0;
    for name in ["quickstart", "hash", "enterprise", "smallest", "prefix-delegation", "self-managed", "phases"] {
        let (page, json) = page_and_json(&fixture(name), &["capacity", "--growth", "6", "--add", "/20"]);
        let of_page = &tables(&page)[""];
        let capacity = &json["capacity"];
        let rows = |field: &str| capacity[field].as_array().unwrap().clone();
        compared += compare(name, &of_page["pod-subnets"], &rows("pod_subnets"), "subnet_id");
        compared += compare(name, &of_page["node-groups"], &rows("node_groups"), "name");
        let addition = capacity["addition"]["node_groups"].as_array().unwrap();
        compared += compare(name, &of_page["addition"], addition, "node_group");
        let first = &capacity["first_to_fill"];
        let sentence =
            format!("has {} nodes in all; {} are wanted now", first["node_group_fits"], first["node_group_desired"]);
        assert!(page.contains(&sentence), "{name}: {sentence}");
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn every_phase_has_a_section_with_its_own_numbers() {
    let (page, json) = page_and_json(&fixture("phases-hash"), &["capacity", "--phases", "--growth", "batch=12"]);
    let tables = tables(&page);
    assert_eq!(tables.keys().map(String::as_str).collect::<Vec<_>>(), ["", "second", "third"]);
    for phase in json["phases"].as_array().unwrap() {
        let name = phase["phase"].as_str().unwrap_or_default();
        compare(name, &tables[name]["pod-subnets"], phase["capacity"]["pod_subnets"].as_array().unwrap(), "subnet_id");
    }
    let moved = &tables["third"]["move"];
    assert_eq!((moved["batch"]["change"].as_str(), moved["web"]["change"].as_str()), ("replaced", "untouched"));
}

#[test]
fn a_file_that_is_no_page_of_ours_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.html");
    std::fs::write(&file, "mine").unwrap();
    let input = ["plan", "--inventory", "inventory.json", "-f", "eniplan.yaml", "--html", file.to_str().unwrap()];
    let run = eniplan(&fixture("quickstart"), &input);
    assert_eq!((run.code, std::fs::read_to_string(&file).unwrap().as_str()), (1, "mine"));
    std::fs::remove_file(&file).unwrap();
    for _ in 0..2 {
        assert_eq!(eniplan(&fixture("quickstart"), &input).code, 0);
    }
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
