//! Makes changes, one after the other: one arm for each kind of change, which maps its fields and decides nothing.
//!
//! Every arm reads its object directly before the call and refuses when it is no longer as the diff found it. Between
//! that read and the call EC2 and EKS leave a small window: they take no precondition. Launch-template versions are
//! only ever added, and EKS refuses a second update of a group, so that nothing is lost in it.

mod daemon_set;
mod eks;
mod eks_wait;
mod failures;
mod former;
mod kubernetes;
mod lease;
mod node_groups;
mod stop;
mod template_data;
mod templates;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::mpsc::unbounded_channel;

pub use self::former::former_versions;
use self::lease::Lease;
use self::stop::Stop;
use super::aws::{Clients, find_cluster};
use super::collect;
use super::kube::{Access, Connection, connect};
use super::options::CollectOptions;
use super::progress::{Events, Progress};
use crate::diff::{Applied, Change, Diff, Done, Event, Failed, LaunchTemplateBefore, VersionRef};
use crate::error::{AccessError, ChangeError, Error};
use crate::inventory::{Cluster, Inventory};

/// What [`apply`] works with.
#[derive(Debug, Clone)]
pub struct ApplyOptions {
    /// How the cluster is reached and read.
    pub collect: CollectOptions,
    /// Between two looks at what is in progress.
    pub poll: Duration,
    /// Longest wait for one change. EKS itself ends an update of a node group that makes no progress much earlier.
    pub longest_wait: Duration,
    /// Between two renewals of the lock, which holds for 30 seconds.
    pub renew_lock: Duration,
    /// Send dry runs only.
    pub dry_run: bool,
}

/// What is wrong with the nodes of a group that were launched from a version, each in a sentence; from a reading that was
/// made after they came.
pub type Proof<'a> = &'a dyn Fn(&Inventory, &str, Option<i64>) -> Result<Vec<String>, Error>;

/// Takes the lock, reads the cluster under it, lets `decide` make the diff, and makes its changes in order. Between two
/// node groups `proof` looks at the new nodes. Stops at the first failure. An interrupt lets the call in flight finish.
///
/// # Errors
/// When nothing was begun: no access, no lock, or what `decide` says. What fails later is in [`Applied`].
pub fn apply(
    options: &ApplyOptions,
    decide: impl FnOnce(&Inventory) -> Result<Diff, Error>,
    proof: Proof<'_>,
    mut progress: impl FnMut(Progress),
) -> Result<Applied, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| AccessError::Runtime { source })?;
    let result = runtime.block_on(async {
        let (sender, mut receiver) = unbounded_channel();
        let stop = Stop::default();
        let work = run(options, decide, proof, Events::new(sender), &stop);
        tokio::pin!(work);
        let result = loop {
            tokio::select! {
                result = &mut work => break result,
                Some(event) = receiver.recv() => progress(event),
                Ok(()) = tokio::signal::ctrl_c(), if !stop.is_set() => stop.set(),
            }
        };
        while let Ok(event) = receiver.try_recv() {
            progress(event);
        }
        result
    });
    runtime.shutdown_background();
    result
}

async fn run(
    options: &ApplyOptions,
    decide: impl FnOnce(&Inventory) -> Result<Diff, Error>,
    proof: Proof<'_>,
    events: Events,
    stop: &Stop,
) -> Result<Applied, Error> {
    let clients = Clients::connect(&options.collect, events.clone()).await?;
    let cluster = find_cluster(&clients, &options.collect.cluster).await?.cluster;
    let access = connect(&clients, &cluster, &options.collect).await?;
    let session = Session {
        clients,
        cluster,
        access,
        options,
        proof,
        stop,
        events: events.clone(),
        at: RefCell::default(),
        made: RefCell::default(),
        templates: RefCell::default(),
    };
    if options.dry_run {
        let inventory = collect::inventory(&options.collect, events).await?;
        return Ok(session.dry_run(&decide(&inventory)?).await);
    }
    let lease = Lease::acquire(session.kubernetes()?, options.renew_lock).await?;
    let work = async {
        let inventory = collect::inventory(&options.collect, events).await?;
        Ok::<_, Error>(session.all(&decide(&inventory)?, &lease).await)
    };
    let result = tokio::select! {
        result = work => result,
        never = lease.keep() => match never {},
    };
    let released = lease.release().await;
    let mut applied = result?;
    if applied.failed.is_none() && applied.stopped.is_none() {
        applied.stopped = released.err().map(Error::from);
    }
    Ok(applied)
}

/// A run under way: the ways to the APIs, and what earlier changes have made.
struct Session<'a> {
    clients: Clients,
    cluster: Cluster,
    access: Access,
    options: &'a ApplyOptions,
    proof: Proof<'a>,
    stop: &'a Stop,
    events: Events,
    /// Place of the change under way.
    at: RefCell<usize>,
    /// Template and version that were made for a node group.
    made: RefCell<BTreeMap<String, (String, i64)>>,
    /// Templates as this run has left them.
    templates: RefCell<BTreeMap<String, LaunchTemplateBefore>>,
}

impl Session<'_> {
    fn kubernetes(&self) -> Result<&Connection, ChangeError> {
        match &self.access {
            Access::Ready(connection) => Ok(connection),
            Access::Unavailable(reason) => Err(ChangeError::NoAnswer {
                operation: "connecting".into(),
                object: format!("the API server of cluster {}", self.cluster.name),
                message: reason.clone(),
            }),
        }
    }

    fn waiting(&self, what: &str, count: Option<(u64, u64)>) {
        self.events.change(Event::Waiting { change: *self.at.borrow(), what: what.to_owned(), count });
    }

    async fn all(&self, diff: &Diff, lease: &Lease<'_>) -> Applied {
        let mut applied = Applied::default();
        for (place, change) in diff.changes.iter().enumerate() {
            if let Err(error) = lease.held().and_then(|()| self.stop.check()) {
                applied.stopped = Some(error.into());
                return applied;
            }
            self.at.replace(place);
            self.events.change(Event::Started(place));
            match self.make(change).await {
                Ok(result) => {
                    let done = Done { change: place, result };
                    self.events.change(Event::Done(done.clone()));
                    applied.done.push(done);
                }
                Err(error) => {
                    applied.failed = Some(Failed { change: place, error: error.into() });
                    return applied;
                }
            }
        }
        applied
    }

    /// Tries every change; those that have no dry run, or depend on an earlier one, are not proved.
    async fn dry_run(&self, diff: &Diff) -> Applied {
        let mut applied = Applied::default();
        for (place, change) in diff.changes.iter().enumerate() {
            if let Some(reason) = not_proved(change) {
                applied.not_proved.push(Done { change: place, result: format!("not proved: {reason}") });
                continue;
            }
            match self.make(change).await {
                Ok(result) => applied.done.push(Done { change: place, result }),
                Err(error) if applied.failed.is_some() => {
                    applied.not_proved.push(Done { change: place, result: format!("would fail: {error}") });
                }
                Err(error) => applied.failed = Some(Failed { change: place, error: error.into() }),
            }
        }
        applied
    }

    /// One arm for each change.
    async fn make(&self, change: &Change) -> Result<String, ChangeError> {
        match change {
            Change::ApplyEniConfig { name, manifest, before, take_over } => {
                self.apply_eni_config(name, manifest, before.as_ref(), take_over).await
            }
            Change::CreateLaunchTemplate { node_group, request, client_token } => {
                self.create_launch_template(node_group, request, client_token).await
            }
            Change::CreateLaunchTemplateVersion { node_group, request, before, client_token } => {
                self.create_launch_template_version(node_group, request, before, client_token).await
            }
            Change::LabelNode { name, key, value, before } => {
                self.label_node(name, key, value, before.as_deref()).await
            }
            Change::SetDaemonSetEnv { env, before, take_over, moves: _ } => {
                self.set_daemon_set_env(env, before, take_over).await
            }
            Change::UpdateAddOn {
                addon_version,
                service_account_role_arn,
                pod_identity_associations,
                configuration_values,
                env,
                before,
                overwrite,
                resets: _,
                moves: _,
            } => {
                let update = eks::AddOnUpdate {
                    addon_version,
                    service_account_role_arn: service_account_role_arn.as_deref(),
                    pod_identity_associations,
                    configuration_values,
                    overwrite: *overwrite,
                };
                self.update_add_on(&update, env, before).await
            }
            Change::CreateAddOn { configuration_values } => self.create_add_on(configuration_values).await,
            Change::SetDefaultVersion { launch_template_id, to, before } => {
                self.set_default_version(launch_template_id, to, before).await
            }
            Change::UpdateNodeGroup { name, launch_template_id, to, release_version, nodes: _, expected, before } => {
                self.update_node_group(name, launch_template_id, to, release_version.as_deref(), expected, before).await
            }
            Change::CreateNodeGroup { name, request, template, expected } => {
                self.create_node_group(name, request, template.as_ref(), expected).await
            }
            Change::DeleteEniConfig { name, before } => self.delete_eni_config(name, before).await,
            Change::DeleteLaunchTemplateVersions { launch_template_id, versions, before } => {
                self.delete_launch_template_versions(launch_template_id, versions, before).await
            }
        }
    }

    /// The number behind a reference; an earlier change of this run may have made it.
    fn number(&self, version: &VersionRef) -> Result<i64, ChangeError> {
        match version {
            VersionRef::Number(number) => Ok(*number),
            VersionRef::CreatedBy(group) => {
                self.made.borrow().get(group).map(|(_, number)| *number).ok_or_else(|| ChangeError::UnknownField {
                    field: format!("a launch-template version that no change of the diff makes (for {group})"),
                })
            }
        }
    }
}

fn not_proved(change: &Change) -> Option<&'static str> {
    let depends = |version: &VersionRef| match version {
        VersionRef::CreatedBy(_) => Some("it depends on an earlier change"),
        VersionRef::Number(_) => None,
    };
    match change {
        Change::UpdateAddOn { .. }
        | Change::CreateAddOn { .. }
        | Change::UpdateNodeGroup { .. }
        | Change::CreateNodeGroup { .. } => Some("EKS has no dry run"),
        Change::SetDefaultVersion { to, .. } => depends(to),
        Change::ApplyEniConfig { .. }
        | Change::CreateLaunchTemplate { .. }
        | Change::CreateLaunchTemplateVersion { .. }
        | Change::LabelNode { .. }
        | Change::SetDaemonSetEnv { .. }
        | Change::DeleteEniConfig { .. }
        | Change::DeleteLaunchTemplateVersions { .. } => None,
    }
}
