//! The cluster itself. Without it there is nothing to plan, so that what fails here is an error and not a gap.

use aws_sdk_eks::error::SdkError;

use super::Clients;
use super::map_eks;
use super::reading::mapped;
use crate::error::AccessError;
use crate::error::access::is_expiry;
use crate::inventory::{AddOn, Cluster};
use crate::live::failure::Failure;

/// What the first round of questions brings.
pub(in crate::live) struct Found {
    pub(in crate::live) cluster: Cluster,
    pub(in crate::live) node_group_names: Result<Vec<String>, Failure>,
    pub(in crate::live) add_on: Result<Option<AddOn>, Failure>,
}

/// Describes the cluster; asks for what needs only its name at the same time.
///
/// # Errors
/// [`AccessError`] when the cluster cannot be described.
pub(in crate::live) async fn find_cluster(clients: &Clients, name: &str) -> Result<Found, AccessError> {
    let (cluster, node_group_names, add_on) = tokio::try_join!(
        describe_cluster(clients, name),
        async { Ok(list_node_groups(clients, name).await) },
        async { Ok(describe_add_on(clients, name).await) },
    )?;
    Ok(Found { cluster, node_group_names, add_on })
}

async fn describe_cluster(clients: &Clients, name: &str) -> Result<Cluster, AccessError> {
    const ACTION: &str = "eks:DescribeCluster";
    let failed = |code: Option<String>, source: crate::error::access::Source| AccessError::DescribeCluster {
        action: ACTION.to_owned(),
        cluster: name.to_owned(),
        region: clients.region.clone(),
        code,
        source,
    };
    let error = match clients.eks.describe_cluster().name(name).send().await {
        Ok(answer) => {
            let cluster = answer.cluster.ok_or_else(|| failed(None, "the answer has no `cluster`".into()))?;
            return map_eks::cluster(cluster).map_err(|reason| failed(None, format!("the answer has {reason}").into()));
        }
        Err(error) => error,
    };
    if error.as_service_error().is_some_and(|error| error.is_resource_not_found_exception()) {
        return Err(no_such_cluster(clients, name).await);
    }
    let Failure { code, message, .. } = Failure::of_aws(&error, ACTION, None);
    if matches!(error, SdkError::DispatchFailure(_)) {
        return Err(AccessError::Unreachable { region: clients.region.clone(), source: message.into() });
    }
    if code.as_deref().is_some_and(is_expiry) {
        let profile = clients.profile.clone();
        return Err(AccessError::ExpiredCredentials { profile, sso: false, source: message.into() });
    }
    Err(failed(code, message.into()))
}

/// Says where was looked, and what is there instead.
async fn no_such_cluster(clients: &Clients, name: &str) -> AccessError {
    let pages = clients.eks.list_clusters().into_paginator().items().send();
    let (known, caller) = tokio::join!(
        clients.ask("eks:ListClusters", None, pages.collect::<Result<Vec<_>, _>>()),
        clients.sts.get_caller_identity().send(),
    );
    AccessError::NoSuchCluster {
        cluster: name.to_owned(),
        region: clients.region.clone(),
        profile: clients.profile.clone(),
        account: caller.ok().and_then(|caller| caller.account),
        known: known.ok().map(|mut known| {
            known.sort();
            known
        }),
    }
}

async fn list_node_groups(clients: &Clients, cluster: &str) -> Result<Vec<String>, Failure> {
    let pages = clients.eks.list_nodegroups().cluster_name(cluster).into_paginator().items().send();
    clients.ask("eks:ListNodegroups", Some(cluster), pages.collect::<Result<Vec<_>, _>>()).await
}

async fn describe_add_on(clients: &Clients, cluster: &str) -> Result<Option<AddOn>, Failure> {
    const ACTION: &str = "eks:DescribeAddon";
    const NAME: &str = "vpc-cni";
    let call = clients.eks.describe_addon().cluster_name(cluster).addon_name(NAME).send();
    // The cluster exists, or the whole reading stops; so it is the add-on that is not there.
    let answer = match clients.ask(ACTION, Some(NAME), call).await {
        Err(failure) if failure.code.as_deref() == Some("ResourceNotFoundException") => return Ok(None),
        answer => answer?,
    };
    let add_ons = mapped(ACTION, Some(NAME), answer.addon.into_iter().collect(), map_eks::add_on)?;
    match add_ons.into_iter().next() {
        Some(add_on) => Ok(Some(add_on)),
        None => Err(Failure::unreadable(ACTION, Some(NAME.to_owned()), "the answer has no `addon`".into())),
    }
}
