//! The only code that talks to a network. Blocking functions over one current-thread runtime of their own.
//!
//! [`collect`] reads a cluster into an [`Inventory`]: [`aws`] asks EKS and EC2, [`kube`] the API server, [`collect`]
//! knows which question waits for which answer. A read that is denied or fails becomes a gap of the inventory.

// The network's world: its clock, its environment, its certificate files.
#![allow(clippy::disallowed_methods)]

mod apply;
mod aws;
mod collect;
mod failure;
mod kube;
mod options;
mod pem;
mod percent;
mod progress;

pub use apply::{ApplyOptions, Proof, apply, former_versions};
pub use options::{CollectOptions, Timing};
pub use progress::{Call, Progress, SourceRead};
use tokio::sync::mpsc::unbounded_channel;

use self::progress::Events;
use crate::error::{AccessError, Error};
use crate::inventory::Inventory;

/// Reads a cluster. Blocks until everything is read, given up or interrupted; `progress` hears of every part that is
/// there and every request that was made.
///
/// # Errors
/// [`Error::Access`] when there is no cluster to read, or the user interrupts.
pub fn collect(options: &CollectOptions, progress: impl FnMut(Progress)) -> Result<Inventory, Error> {
    run(progress, |events| collect::inventory(options, events))
}

/// Waits. Once a runtime has listened for interrupts nobody else hears of them, so that waiting listens, too.
///
/// # Errors
/// [`AccessError::Interrupted`].
pub fn pause(duration: std::time::Duration) -> Result<(), Error> {
    run(drop, |_| async move {
        tokio::time::sleep(duration).await;
        Ok(())
    })
}

/// Runs one task to its end or to an interrupt, and hands its events on meanwhile.
fn run<T, F>(mut progress: impl FnMut(Progress), task: impl FnOnce(Events) -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, AccessError>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| AccessError::Runtime { source })?;
    let result = runtime.block_on(async {
        let (sender, mut receiver) = unbounded_channel();
        let task = task(Events::new(sender));
        tokio::pin!(task);
        let interrupt = tokio::signal::ctrl_c();
        tokio::pin!(interrupt);
        let result = loop {
            tokio::select! {
                result = &mut task => break result,
                Some(event) = receiver.recv() => progress(event),
                Ok(()) = &mut interrupt => break Err(AccessError::Interrupted),
            }
        };
        while let Ok(event) = receiver.try_recv() {
            progress(event);
        }
        result
    });
    // A name that is being looked up cannot be given up; do not wait for it.
    runtime.shutdown_background();
    Ok(result?)
}
