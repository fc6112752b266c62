//! What to read, how, and how long to wait.

use std::time::Duration;

use crate::inventory::AlsoRead;

/// What [`collect`](super::collect) is to read.
#[derive(Debug, Clone)]
pub struct CollectOptions {
    /// Name of the EKS cluster.
    pub cluster: String,
    /// Region; `None` takes it from the environment or the profile.
    pub region: Option<String>,
    /// Profile of the AWS configuration; `None` takes `AWS_PROFILE` or the default chain.
    pub profile: Option<String>,
    /// Context of the kubeconfig; `None` needs no kubeconfig and makes the token itself.
    pub kube_context: Option<String>,
    /// What else to read besides what the cluster itself names.
    pub also: AlsoRead,
    /// How long to wait.
    pub timing: Timing,
}

impl CollectOptions {
    /// Reads that cluster with the usual settings.
    pub fn new(cluster: impl Into<String>) -> Self {
        Self {
            cluster: cluster.into(),
            region: None,
            profile: None,
            kube_context: None,
            also: AlsoRead::default(),
            timing: Timing::default(),
        }
    }
}

/// How long to wait, and how often to try again. Every wait of the program is bounded by one of these.
#[derive(Debug, Clone)]
pub struct Timing {
    /// Until a connection stands.
    pub connect: Duration,
    /// One attempt of one AWS call.
    pub attempt: Duration,
    /// One AWS call with all its attempts.
    pub call: Duration,
    /// One list with all its pages.
    pub list: Duration,
    /// Attempts of an AWS call, where `AWS_MAX_ATTEMPTS` and `AWS_RETRY_MODE` say nothing.
    pub attempts: u32,
    /// Longest first pause between two attempts; later ones double it, each shortened at random.
    pub first_pause: Duration,
    /// Longest pause between two attempts of an AWS call.
    pub longest_pause: Duration,
    /// One object, or one page of a list, of Kubernetes with all its attempts.
    pub kubernetes: Duration,
    /// Age at which a token for Kubernetes is made anew.
    pub token: Duration,
}

impl Timing {
    /// Waits that long for one answer, and as much less or more for everything else as by default.
    pub fn of_answer(seconds: u32) -> Self {
        let usual = Self::default();
        let answer = Duration::from_secs(u64::from(seconds));
        let share = answer.as_secs_f64() / usual.attempt.as_secs_f64();
        Self {
            connect: usual.connect.min(answer),
            attempt: answer,
            call: usual.call.mul_f64(share),
            list: usual.list.mul_f64(share),
            kubernetes: answer,
            ..usual
        }
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            attempt: Duration::from_secs(20),
            call: Duration::from_secs(60),
            list: Duration::from_secs(300),
            attempts: 6,
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(10),
            kubernetes: Duration::from_secs(20),
            // Well before the 15 minutes for which EKS takes one. Source: aws-iam-authenticator `pkg/token/token.go`.
            token: Duration::from_secs(10 * 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_in_proportion_to_the_longest_wait_for_an_answer() {
        let seconds = |timing: &Timing| {
            [timing.connect, timing.attempt, timing.call, timing.list, timing.kubernetes].map(|wait| wait.as_secs())
        };
        assert_eq!(seconds(&Timing::default()), [5, 20, 60, 300, 20]);
        assert_eq!(seconds(&Timing::of_answer(20)), [5, 20, 60, 300, 20]);
        assert_eq!(seconds(&Timing::of_answer(2)), [2, 2, 6, 30, 2]);
        assert_eq!(seconds(&Timing::of_answer(60)), [5, 60, 180, 900, 60]);
    }
}
