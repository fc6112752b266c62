//! What was seeded is what is read.

use eniplan::inventory::Inventory;
use pretty::assert_same;
use serde_json::{Value, json};

use crate::bench::{Bench, fixture, fixture_config, fixtures};
use crate::reader::Reading;

pub(crate) mod pretty {
    use serde_json::Value;

    /// Compares line by line, so that the difference is the message.
    pub(crate) fn assert_same(read: &Value, expected: &Value, what: &str) {
        let lines = |value: &Value| serde_json::to_string_pretty(value).unwrap();
        let (read, expected) = (lines(read), lines(expected));
        for (number, (read, expected)) in read.lines().zip(expected.lines()).enumerate() {
            assert_eq!(read, expected, "{what}, line {}", number + 1);
        }
        assert_eq!(read.lines().count(), expected.lines().count(), "{what}");
    }
}

/// The inventory in the form that programs write, without the time of reading.
pub(crate) fn normal(value: &Value) -> Value {
    let mut inventory = Inventory::from_json(&value.to_string(), "a seed").unwrap();
    inventory.collected_at = String::new();
    serde_json::to_value(inventory).unwrap()
}

#[test]
fn every_fixture_is_read_back_as_it_was_seeded() {
    let bench = Bench::start();
    for name in fixtures() {
        let seed = fixture(&name);
        bench.control("POST", "reset", &Value::Null);
        let caller = seed["gaps"].as_array().unwrap().iter().find_map(|gap| gap["caller"].as_str());
        bench.call_as(caller.unwrap_or("arn:aws:sts::111122223333:assumed-role/platform/tester"));
        let expected = bench.seed(&json!({"inventory": seed}));
        let outcome = Reading::of_seed(&bench, &seed).with("config", fixture_config(&name)).run();
        assert_same(&normal(outcome.value()), &normal(&expected), &name);
    }
}
