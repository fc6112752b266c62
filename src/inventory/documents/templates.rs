//! What `aws ec2 describe-launch-templates` and `-launch-template-versions` print, as parts of the inventory.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::aws::{TagList, Whole};
use crate::inventory::{LaunchTemplate, LaunchTemplateVersion};
use crate::launch_template::LaunchTemplateData;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct DescribeLaunchTemplates {
    pub(super) launch_templates: Vec<LaunchTemplateAnswer>,
    #[serde(default, rename = "NextToken")]
    _whole: Whole,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct DescribeLaunchTemplateVersions {
    pub(super) launch_template_versions: Vec<LaunchTemplateVersionAnswer>,
    #[serde(default, rename = "NextToken")]
    _whole: Whole,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct LaunchTemplateAnswer {
    launch_template_id: String,
    launch_template_name: String,
    default_version_number: i64,
    latest_version_number: i64,
    #[serde(default)]
    tags: TagList,
}

impl From<LaunchTemplateAnswer> for LaunchTemplate {
    fn from(answer: LaunchTemplateAnswer) -> Self {
        Self {
            launch_template_id: answer.launch_template_id,
            launch_template_name: answer.launch_template_name,
            default_version_number: answer.default_version_number,
            latest_version_number: answer.latest_version_number,
            tags: answer.tags.into_map(),
            versions: Vec::new(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct LaunchTemplateVersionAnswer {
    pub(super) launch_template_id: String,
    version_number: i64,
    version_description: Option<String>,
    launch_template_data: LaunchTemplateData,
}

impl From<LaunchTemplateVersionAnswer> for LaunchTemplateVersion {
    fn from(answer: LaunchTemplateVersionAnswer) -> Self {
        Self {
            version_number: answer.version_number,
            version_description: answer.version_description.filter(|description| !description.is_empty()),
            launch_template_data: as_in_a_request(answer.launch_template_data),
        }
    }
}

/// The data as a request would carry it: without what only answers have, and without lists that hold nothing.
fn as_in_a_request(mut data: LaunchTemplateData) -> LaunchTemplateData {
    // How far a running instance has taken the options over.
    if let Some(options) = &mut data.metadata_options {
        options.other.remove("State");
        without_nothing(&mut options.other);
    }
    for specification in &mut data.tag_specifications {
        specification.tags.sort_by(|a, b| a.key.cmp(&b.key));
    }
    for interface in &mut data.network_interfaces {
        without_nothing(&mut interface.other);
    }
    for mapping in &mut data.block_device_mappings {
        without_nothing(&mut mapping.other);
        if let Some(ebs) = &mut mapping.ebs {
            without_nothing(&mut ebs.other);
        }
    }
    if let Some(until) = data.instance_market_options.as_mut().and_then(|options| options.pointer_mut(VALID_UNTIL))
        && let Some(text) = until.as_str()
    {
        *until = as_the_api_takes_it(text).into();
    }
    without_nothing(&mut data.other);
    data
}

/// The only time in the data.
const VALID_UNTIL: &str = "/SpotOptions/ValidUntil";

/// A time that version 2 of the AWS CLI has written with an offset, and version 1 as the service gave it.
fn as_the_api_takes_it(time: &str) -> String {
    let utc = time.strip_suffix("+00:00").or_else(|| time.strip_suffix('Z')).unwrap_or(time);
    let whole = utc.strip_suffix(".000000").or_else(|| utc.strip_suffix(".000")).unwrap_or(utc);
    if utc == time { time.into() } else { format!("{whole}Z") }
}

fn without_nothing(fields: &mut BTreeMap<String, Value>) {
    fields.retain(|_, value| is_something(value));
}

fn is_something(value: &mut Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => {
            fields.retain(|_, value| is_something(value));
            true
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn data_is_read_as_a_request_would_carry_it() {
        let answer: LaunchTemplateVersionAnswer = serde_json::from_value(json!({
            "LaunchTemplateId": "lt-1", "VersionNumber": 3, "VersionDescription": "",
            "LaunchTemplateData": {
                "UserData": "I2Nsb3VkLWNvbmZp\nZwo=",
                "MetadataOptions": {"State": "pending", "HttpTokens": "required", "HttpProtocolIpv6": "disabled"},
                "NetworkInterfaces": [{"DeviceIndex": 0, "Groups": ["sg-1"], "Ipv6Addresses": [], "NetworkCardIndex": 0}],
                "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 50, "Encrypted": true}}],
                "TagSpecifications": [{"ResourceType": "instance", "Tags": [
                    {"Key": "b", "Value": "2"}, {"Key": "a", "Value": "1"}]}],
                "InstanceMarketOptions": {"SpotOptions": {"ValidUntil": "2027-01-31T00:00:00+00:00"}},
                "ElasticGpuSpecifications": [],
                "Placement": {"Tenancy": "dedicated", "GroupName": null},
            },
        }))
        .unwrap();
        let version = LaunchTemplateVersion::from(answer);
        assert_eq!((version.version_number, version.version_description), (3, None));
        assert_eq!(
            serde_json::to_value(&version.launch_template_data).unwrap(),
            json!({
                "UserData": "I2Nsb3VkLWNvbmZpZwo=",
                "MetadataOptions": {"HttpTokens": "required", "HttpProtocolIpv6": "disabled"},
                "NetworkInterfaces": [{"DeviceIndex": 0, "Groups": ["sg-1"], "NetworkCardIndex": 0}],
                "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 50, "Encrypted": true}}],
                "TagSpecifications": [{"ResourceType": "instance", "Tags": [
                    {"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}]}],
                "InstanceMarketOptions": {"SpotOptions": {"ValidUntil": "2027-01-31T00:00:00Z"}},
                "Placement": {"Tenancy": "dedicated"},
            })
        );
    }

    #[test]
    fn both_versions_of_the_command_line_give_the_same_time() {
        for (printed, time) in [
            ("2027-01-31T00:00:00+00:00", "2027-01-31T00:00:00Z"),
            ("2027-01-31T00:00:00.000Z", "2027-01-31T00:00:00Z"),
            ("2027-01-31T00:00:00.250000+00:00", "2027-01-31T00:00:00.250000Z"),
            ("2027-01-31", "2027-01-31"),
        ] {
            assert_eq!(as_the_api_takes_it(printed), time);
        }
    }
}
