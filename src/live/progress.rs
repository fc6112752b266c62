//! What is reported while a reading goes on.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use crate::diff::Event;
use crate::inventory::GapSource;

/// One thing that happened.
#[derive(Debug, Clone)]
pub enum Progress {
    /// A part of the inventory is there.
    Source(SourceRead),
    /// A request was answered, or was not.
    Call(Call),
    /// A change is begun, waited for or done.
    Change(Event),
}

/// A part of the inventory, after its last page.
#[derive(Debug, Clone)]
pub struct SourceRead {
    /// Which part.
    pub name: &'static str,
    /// Objects read.
    pub count: usize,
    /// Reads of it that were denied or failed.
    pub failed: usize,
}

/// One request: one attempt of an AWS call, or one Kubernetes request.
#[derive(Debug, Clone)]
pub struct Call {
    /// `EKS`, `EC2`, `STS` or `Kubernetes`.
    pub service: String,
    /// Operation, such as `DescribeSubnets`, or verb and path.
    pub operation: String,
    /// HTTP status; absent when there was no answer.
    pub status: Option<u16>,
    /// The request id that the service gave, for support cases.
    pub request_id: Option<String>,
    /// Time since the reading began.
    pub at: Duration,
    /// How long the request took.
    pub took: Duration,
}

impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { service, operation, status, request_id, at, took } = self;
        write!(f, "{:>8.3} s  {service} {operation}: ", at.as_secs_f64())?;
        match status {
            Some(status) => write!(f, "{status}")?,
            None => write!(f, "no answer")?,
        }
        write!(f, " in {} ms, request id {}", took.as_millis(), request_id.as_deref().unwrap_or("none"))
    }
}

/// Where events go to. Cheap to clone; the receiving end may be gone.
#[derive(Debug, Clone)]
pub(super) struct Events {
    sender: UnboundedSender<Progress>,
    began: Instant,
}

impl Events {
    pub(super) fn new(sender: UnboundedSender<Progress>) -> Self {
        Self { sender, began: Instant::now() }
    }

    pub(super) fn source(&self, source: GapSource, count: usize, failed: usize) {
        self.emit(Progress::Source(SourceRead { name: source.name(), count, failed }));
    }

    pub(super) fn call(
        &self,
        service: &str,
        operation: &str,
        status: Option<u16>,
        request_id: Option<String>,
        started: Instant,
    ) {
        self.emit(Progress::Call(Call {
            service: service.to_owned(),
            operation: operation.to_owned(),
            status,
            request_id,
            at: started.duration_since(self.began),
            took: started.elapsed(),
        }));
    }

    pub(super) fn change(&self, event: Event) {
        self.emit(Progress::Change(event));
    }

    fn emit(&self, progress: Progress) {
        // Nobody listens any more only when the run was given up; then the event has no reader either.
        let _ = self.sender.send(progress);
    }
}
