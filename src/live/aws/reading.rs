//! One reading of one cluster: the clients, and what could not be read so far.

use std::cell::RefCell;
use std::collections::BTreeSet;

use aws_sdk_ec2::types::Filter;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;

use super::Clients;
use crate::inventory::{Gap, GapSource};
use crate::live::failure::Failure;

/// A reading under way. Its futures run on one thread, so that the gaps need no lock.
pub(in crate::live) struct Reading {
    pub(in crate::live) clients: Clients,
    gaps: RefCell<Vec<Gap>>,
}

impl Reading {
    pub(in crate::live) fn new(clients: Clients) -> Self {
        Self { clients, gaps: RefCell::default() }
    }

    /// Reports a part of the inventory as read and turns what failed of it into gaps.
    pub(in crate::live) fn settle(&self, source: GapSource, count: usize, failures: Vec<Failure>) {
        self.clients.events.source(source, count, failures.len());
        self.gaps.borrow_mut().extend(failures.into_iter().map(|failure| failure.into_gap(source)));
    }

    /// Settles a list that was read in one go.
    pub(in crate::live) fn settle_list<T>(&self, source: GapSource, result: Result<Vec<T>, Failure>) -> Vec<T> {
        let (list, failures) = match result {
            Ok(list) => (list, Vec::new()),
            Err(failure) => (Vec::new(), vec![failure]),
        };
        self.settle(source, list.len(), failures);
        list
    }

    /// Settles an object that may not exist.
    pub(in crate::live) fn settle_object<T>(&self, source: GapSource, result: Result<Option<T>, Failure>) -> Option<T> {
        let (object, failures) = match result {
            Ok(object) => (object, Vec::new()),
            Err(failure) => (None, vec![failure]),
        };
        self.settle(source, usize::from(object.is_some()), failures);
        object
    }

    /// What could not be read, after everything was tried.
    pub(in crate::live) fn into_gaps(self) -> (Clients, Vec<Gap>) {
        (self.clients, self.gaps.into_inner())
    }
}

/// Values that EC2 takes in one filter. Source: Amazon EC2 API reference, "Filter".
pub(super) const VALUES_PER_FILTER: usize = 200;

impl Clients {
    /// One call, or all pages of one list, while holding one of the permits.
    pub(super) async fn ask<T, E>(
        &self,
        action: &str,
        resource: Option<&str>,
        answer: impl Future<Output = Result<T, SdkError<E, HttpResponse>>>,
    ) -> Result<T, Failure>
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
    {
        let resource = || resource.map(str::to_owned);
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await;
        match tokio::time::timeout(self.timing.list, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(Failure::of_aws(&error, action, resource())),
            Err(_) => Err(Failure::unreadable(
                action,
                resource(),
                format!("the list had no end within {} seconds", self.timing.list.as_secs()),
            )),
        }
    }
}

/// Maps an answer; one object that lacks what it must have makes the whole answer unreadable.
pub(super) fn mapped<T, U>(
    action: &str,
    resource: Option<&str>,
    raw: Vec<T>,
    map: impl Fn(T) -> Result<U, String>,
) -> Result<Vec<U>, Failure> {
    raw.into_iter()
        .map(map)
        .collect::<Result<_, _>>()
        .map_err(|reason| Failure::unreadable(action, resource.map(str::to_owned), format!("the answer has {reason}")))
}

/// Asks side by side for as many ids at a time as one request takes, and keeps what was found and what failed.
pub(super) async fn in_chunks<T>(
    ids: &BTreeSet<String>,
    ids_per_request: usize,
    ask: impl AsyncFn(Vec<String>) -> Result<Vec<T>, Failure>,
) -> (Vec<T>, Vec<Failure>) {
    let ids: Vec<String> = ids.iter().cloned().collect();
    let requests = ids.chunks(ids_per_request.max(1)).map(|chunk| ask(chunk.to_vec()));
    let mut found = Vec::new();
    let mut failures = Vec::new();
    for answer in futures_util::future::join_all(requests).await {
        match answer {
            Ok(objects) => found.extend(objects),
            Err(failure) => failures.push(failure),
        }
    }
    (found, failures)
}

/// An EC2 filter: objects whose field has one of the values.
pub(super) fn filter(name: &str, values: impl IntoIterator<Item = String>) -> Filter {
    Filter::builder().name(name).set_values(Some(values.into_iter().collect())).build()
}

/// Asks for ids. EC2 refuses the whole request for one id that does not exist, and names it; that one is left out and
/// the rest is asked for again: what does not exist is no gap.
pub(super) async fn existing<T>(
    mut ids: Vec<String>,
    ask: impl AsyncFn(&[String]) -> Result<Vec<T>, Failure>,
) -> Result<Vec<T>, Failure> {
    while !ids.is_empty() {
        let failure = match ask(&ids).await {
            Ok(found) => return Ok(found),
            Err(failure) => failure,
        };
        let before = ids.len();
        if failure.code.as_deref().is_some_and(says_missing) {
            ids.retain(|id| !names(&failure.message, id));
        }
        if ids.len() == before {
            return Err(failure);
        }
    }
    Ok(Vec::new())
}

/// Source: Amazon EC2 API reference, "Error codes": `InvalidAMIID.NotFound`, `InvalidLaunchTemplateId.NotFound`,
/// `InvalidInstanceType` …
fn says_missing(code: &str) -> bool {
    code.ends_with(".NotFound")
        || code.ends_with(".NotFoundException")
        || code.ends_with(".Malformed")
        || code == "InvalidInstanceType"
        || code == "InvalidAMIID.Unavailable"
}

/// Whether a message names that id, and not only a longer one that begins with it.
fn names(message: &str, id: &str) -> bool {
    message
        .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .any(|word| word.trim_matches('.') == id)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    fn refusal(code: &str, message: &str) -> Failure {
        Failure {
            action: "ec2:DescribeImages".into(),
            resource: None,
            code: Some(code.into()),
            message: message.into(),
        }
    }

    #[test]
    fn ids_that_do_not_exist_are_left_out_and_the_rest_is_asked_again() {
        let ids = ["ami-1", "ami-10", "ami-2"].map(str::to_owned).to_vec();
        let asked = RefCell::new(Vec::new());
        let found = block_on(existing(ids, async |ids: &[String]| {
            asked.borrow_mut().push(ids.to_vec());
            if ids.contains(&"ami-1".to_owned()) {
                return Err(refusal("InvalidAMIID.NotFound", "The image id '[ami-1]' does not exist"));
            }
            Ok(ids.to_vec())
        }));
        assert_eq!(found.unwrap(), ["ami-10", "ami-2"]);
        assert_eq!(asked.into_inner().len(), 2);
    }

    #[test]
    fn a_refusal_that_names_none_of_the_ids_is_a_failure() {
        let ids = vec!["m5.large".to_owned()];
        for (code, message) in [("InvalidInstanceType", "no"), ("UnauthorizedOperation", "m5.large is not for you")] {
            let failure = refusal(code, message);
            let result = block_on(existing::<String>(ids.clone(), async |_: &[String]| Err(failure.clone())));
            assert_eq!(result.unwrap_err(), failure, "{code}");
        }
    }
}
