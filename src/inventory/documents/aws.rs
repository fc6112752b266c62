//! What answers share when a command line prints them as JSON.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Stands where a list that is not whole has the token of its next page; anything but nothing is refused.
/// Source: AWS CLI user guide, "Pagination": `--max-items` prints `NextToken`, and so does `--no-paginate`.
#[derive(Debug, Default)]
pub(super) struct Whole;

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Option::<String>::deserialize(deserializer)? {
            Some(token) if !token.is_empty() => Err(D::Error::custom(INCOMPLETE)),
            _ => Ok(Self),
        }
    }
}

/// What is said of a list that has a further page.
pub(super) const INCOMPLETE: &str =
    "the list is not complete: a further page was not asked for, as with `--max-items`, `--no-paginate` or `--limit`";

/// Tags as EC2 gives them.
#[derive(Debug, Default, Deserialize)]
pub(super) struct TagList(Option<Vec<TagAnswer>>);

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TagAnswer {
    key: String,
    value: Option<String>,
}

impl TagList {
    pub(super) fn into_map(self) -> BTreeMap<String, String> {
        self.0.unwrap_or_default().into_iter().map(|tag| (tag.key, tag.value.unwrap_or_default())).collect()
    }
}
