//! What eniplan.yaml names by id and the cluster itself may not.

use crate::config::Config;
use crate::inventory::AlsoRead;

impl AlsoRead {
    /// Everything that the file names by id.
    pub fn named_in(config: &Config) -> Self {
        let mut also = Self::default();
        also.security_groups.extend(config.security_groups.iter().flatten().cloned());
        for pool in config.pools.values() {
            also.subnets.extend(pool.subnets.iter().map(|subnet| subnet.id.clone()));
            also.security_groups.extend(pool.security_groups.iter().flatten().cloned());
        }
        for group in &config.node_groups {
            let described = &group.described;
            also.subnets.extend(described.subnets.iter().cloned());
            also.instance_types.extend(described.instance_types.iter().cloned());
            also.images.extend(described.image_id.iter().cloned());
            also.launch_templates.extend(
                described.launch_template.iter().map(|template| (template.id.clone(), template.version.clone())),
            );
        }
        also
    }
}
