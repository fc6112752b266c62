//! What happens while a diff is applied, and what came of it.

use crate::error::Error;

/// Something that happened on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The change at this place of the diff is begun.
    Started(usize),
    /// It is waited for; `done` of `total` where they can be counted.
    Waiting {
        /// Place in the diff.
        change: usize,
        /// What is waited for.
        what: String,
        /// How many are done, and of how many.
        count: Option<(u64, u64)>,
    },
    /// It is done.
    Done(Done),
}

/// A change that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Place in the diff.
    pub change: usize,
    /// What came of it, such as `version 8`.
    pub result: String,
}

/// A change that failed.
#[derive(Debug)]
pub struct Failed {
    /// Place in the diff.
    pub change: usize,
    /// Why.
    pub error: Error,
}

/// What came of a diff. What is neither done nor failed was not started.
#[derive(Debug, Default)]
pub struct Applied {
    /// Done, in order.
    pub done: Vec<Done>,
    /// In a dry run, what is not proved, with the reason as result.
    pub not_proved: Vec<Done>,
    /// The change at which it stopped.
    pub failed: Option<Failed>,
    /// Why it stopped between two changes, or could not clean up after itself.
    pub stopped: Option<Error>,
}
