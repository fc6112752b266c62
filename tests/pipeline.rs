//! Every fixture through the whole offline pipeline.

#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]

use std::path::PathBuf;

use eniplan::inventory::Inventory;

fn fixture_folders() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

#[test]
fn fixtures_are_in_the_form_that_inventories_are_written_in() {
    for folder in fixture_folders() {
        let path = folder.join("inventory.json");
        let text = std::fs::read_to_string(&path).unwrap();
        let inventory =
            Inventory::from_json(&text, &path.display().to_string()).unwrap_or_else(|error| panic!("{error}"));
        pretty_eq(&inventory.to_json().unwrap(), &text, &path.display().to_string());
    }
}

fn pretty_eq(left: &str, right: &str, what: &str) {
    for (number, (a, b)) in left.lines().zip(right.lines()).enumerate() {
        assert_eq!(a, b, "{what}:{}", number + 1);
    }
    assert_eq!(left.len(), right.len(), "{what}");
}
