//! The launch-template versions that node groups used before, out of the history that EKS keeps.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_eks::types::UpdateStatus;
use tokio::sync::mpsc::unbounded_channel;

use super::eks_wait::version_of;
use super::stop::Stop;
use super::{ApplyOptions, Session};
use crate::error::{AccessError, ChangeError, Error};
use crate::inventory::NodeGroup;
use crate::live::aws::{Clients, find_cluster};
use crate::live::kube::Access;
use crate::live::options::CollectOptions;
use crate::live::progress::Events;

/// For each group, the versions that its successful updates have brought, the newest first, without the one in use.
///
/// # Errors
/// When EKS cannot be asked.
pub fn former_versions(options: &CollectOptions, groups: &[NodeGroup]) -> Result<BTreeMap<String, Vec<i64>>, Error> {
    let options = &ApplyOptions {
        collect: options.clone(),
        poll: Duration::ZERO,
        longest_wait: Duration::ZERO,
        renew_lock: Duration::ZERO,
        dry_run: true,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| AccessError::Runtime { source })?;
    let (sender, _receiver) = unbounded_channel();
    let stop = Stop::default();
    let result = runtime.block_on(async {
        let events = Events::new(sender);
        let clients = Clients::connect(&options.collect, events.clone()).await?;
        let cluster = find_cluster(&clients, &options.collect.cluster).await?.cluster;
        let session = Session {
            clients,
            cluster,
            access: Access::Unavailable("it is not needed here".into()),
            options,
            proof: &|_, _, _| Ok(Vec::new()),
            stop: &stop,
            events,
            at: RefCell::default(),
            made: RefCell::default(),
            templates: RefCell::default(),
        };
        let mut found = BTreeMap::new();
        for group in groups {
            found.insert(group.name.clone(), session.former(group).await?);
        }
        Ok::<_, Error>(found)
    });
    runtime.shutdown_background();
    result
}

impl Session<'_> {
    async fn former(&self, group: &NodeGroup) -> Result<Vec<i64>, ChangeError> {
        let in_use = group.launch_template.as_ref().and_then(|template| template.version.clone());
        let mut versions: Vec<i64> = self
            .updates_of(&group.name)
            .await?
            .iter()
            .filter(|update| update.status() == Some(&UpdateStatus::Successful))
            .filter_map(version_of)
            .filter(|number| Some(number.to_string()) != in_use)
            .collect();
        versions.dedup();
        Ok(versions)
    }
}
