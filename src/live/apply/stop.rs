//! The user's wish to stop, and pauses that heed it.

use std::cell::Cell;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::time::Duration;

use tokio::sync::Notify;

use crate::error::ChangeError;

/// Set once, by an interrupt.
#[derive(Debug, Default)]
pub(super) struct Stop {
    set: Cell<bool>,
    notify: Notify,
}

impl Stop {
    pub(super) fn set(&self) {
        self.set.set(true);
        self.notify.notify_waiters();
    }

    pub(super) fn is_set(&self) -> bool {
        self.set.get()
    }

    pub(super) fn check(&self) -> Result<(), ChangeError> {
        if self.is_set() { Err(ChangeError::Interrupted) } else { Ok(()) }
    }

    /// Waits that long, or until it is set.
    pub(super) async fn pause(&self, time: Duration) -> Result<(), ChangeError> {
        let notified = self.notify.notified();
        self.check()?;
        tokio::select! {
            () = tokio::time::sleep(time) => Ok(()),
            () = notified => Err(ChangeError::Interrupted),
        }
    }
}

/// The pause before another attempt: doubled each time, and shortened at random so that many callers spread out.
pub(super) fn pause_before(attempt: u32, first: Duration) -> Duration {
    let longest = first.saturating_mul(2_u32.saturating_pow(attempt.min(5)));
    let random = RandomState::new().build_hasher().finish() % 1_000;
    longest.saturating_mul(u32::try_from(random).unwrap_or_default()) / 1_000
}
