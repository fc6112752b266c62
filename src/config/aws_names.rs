//! The shapes of what AWS names: ids, ARNs, clusters, regions, instance types, tags.

use super::fault::{Fault, nearest, one_of, shown};
use super::read::{text, texts};
use super::tree::Node;

/// Prefix and name of the ids that people mix up.
const ID_KINDS: [(&str, &str); 7] = [
    (SUBNET, "a subnet id"),
    (SECURITY_GROUP, "a security group id"),
    (LAUNCH_TEMPLATE, "a launch template id"),
    (IMAGE, "an image id"),
    ("vpc-", "a VPC id"),
    ("eni-", "a network interface id"),
    ("i-", "an instance id"),
];
const SUBNET: &str = "subnet-";
const SECURITY_GROUP: &str = "sg-";
const LAUNCH_TEMPLATE: &str = "lt-";
const IMAGE: &str = "ami-";

/// How EC2 spells an image that it looks up in Parameter Store. Source: EC2 user guide, "Use a Systems Manager
/// parameter instead of an AMI ID".
const IMAGE_BY_PARAMETER: &str = "resolve:ssm:";

/// Longest names. Sources: EKS API reference, `CreateCluster.name`, `CreateNodegroup.nodegroupName`; EC2 user guide,
/// "Tag restrictions".
const CLUSTER_NAME_LENGTH: usize = 100;
const NODE_GROUP_NAME_LENGTH: usize = 63;
const TAG_KEY_LENGTH: usize = 128;
const TAG_VALUE_LENGTH: usize = 256;

/// Most security groups that an interface can have, with the quota raised. Source: VPC user guide, "Amazon VPC
/// quotas", security groups per network interface.
const SECURITY_GROUPS_PER_INTERFACE: usize = 16;

pub(super) fn subnet_id(node: &Node) -> Result<String, Fault> {
    aws_id(node, SUBNET, "a subnet id")
}

fn security_group_id(node: &Node) -> Result<String, Fault> {
    aws_id(node, SECURITY_GROUP, "a security group id")
}

/// Security groups of pods; an empty list is allowed and means those of the node.
pub(super) fn security_groups(node: &Node) -> Result<Vec<String>, Fault> {
    let groups = texts(node, "security group ids", security_group_id)?;
    if groups.len() > SECURITY_GROUPS_PER_INTERFACE {
        return Err(Fault::new(
            node.mark,
            format!("{} security groups are more than an interface can have", groups.len()),
            format!("keep {SECURITY_GROUPS_PER_INTERFACE} at most"),
        ));
    }
    Ok(groups)
}

pub(super) fn launch_template_id(node: &Node) -> Result<String, Fault> {
    aws_id(node, LAUNCH_TEMPLATE, "a launch template id")
}

/// `ami-…` or `resolve:ssm:…`.
pub(super) fn image_id(node: &Node) -> Result<String, Fault> {
    let what = "an image id";
    let id = text(node, what)?;
    if id.starts_with('/') {
        return Err(Fault::new(
            node.mark,
            format!("`{}` is not {what}", shown(id)),
            format!("write `{IMAGE_BY_PARAMETER}{}` if it is a parameter of Parameter Store", shown(id)),
        ));
    }
    let Some(parameter) = id.strip_prefix(IMAGE_BY_PARAMETER) else { return aws_id(node, IMAGE, what) };
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-/:".contains(&byte);
    if parameter.is_empty() || !parameter.bytes().all(legal) {
        return Err(Fault::new(
            node.mark,
            format!("`{}` names no parameter of Parameter Store", shown(id)),
            format!("write `{IMAGE_BY_PARAMETER}/path/of/the/parameter`"),
        ));
    }
    Ok(id.into())
}

fn aws_id(node: &Node, prefix: &str, what: &str) -> Result<String, Fault> {
    let id = text(node, what)?;
    if has_id_shape(id, prefix) {
        return Ok(id.into());
    }
    let lower = id.to_ascii_lowercase();
    if has_id_shape(&lower, prefix) {
        return Err(Fault::new(node.mark, format!("`{}` is not {what}", shown(id)), format!("write `{lower}`")));
    }
    if let Some((_, other)) = ID_KINDS.iter().find(|(other, _)| has_id_shape(id, other)) {
        return Err(Fault::new(
            node.mark,
            format!("`{id}` is {other}, where {what} belongs"),
            format!("write an id that begins with `{prefix}`"),
        ));
    }
    Err(Fault::new(
        node.mark,
        format!("`{}` is not {what}", shown(id)),
        format!(
            "write `{prefix}` and the 8 or 17 hexadecimal digits that AWS gave it, such as `{prefix}0a1b2c3d4e5f67890`"
        ),
    ))
}

fn has_id_shape(id: &str, prefix: &str) -> bool {
    id.strip_prefix(prefix).is_some_and(|digits| {
        (8..=17).contains(&digits.len()) && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// The ARN of an IAM role, with or without a path.
pub(super) fn role_arn(node: &Node) -> Result<String, Fault> {
    let what = "the ARN of an IAM role";
    let arn = text(node, what)?;
    if is_role_arn(arn) {
        return Ok(arn.into());
    }
    let help = if arn.contains(":instance-profile/") {
        "write the ARN of the role in that instance profile: `arn:aws:iam::ACCOUNT:role/NAME`".into()
    } else if arn.contains(":assumed-role/") {
        "write the ARN of the role itself, not of a session: `arn:aws:iam::ACCOUNT:role/NAME`".into()
    } else if !arn.contains(':') {
        format!("write `arn:aws:iam::ACCOUNT:role/{}`", shown(arn))
    } else {
        "write `arn:aws:iam::ACCOUNT:role/NAME`, ACCOUNT being twelve digits".into()
    };
    Err(Fault::new(node.mark, format!("`{}` is not {what}", shown(arn)), help))
}

fn is_role_arn(arn: &str) -> bool {
    let mut parts = arn.splitn(6, ':');
    let mut next = || parts.next().unwrap_or_default();
    let (scheme, partition, service, region, account, resource) = (next(), next(), next(), next(), next(), next());
    scheme == "arn"
        && partition
            .strip_prefix("aws")
            .is_some_and(|rest| rest.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase()))
        && service == "iam"
        && region.is_empty()
        && account.len() == 12
        && account.bytes().all(|byte| byte.is_ascii_digit())
        && resource.strip_prefix("role/").is_some_and(|name| {
            !name.is_empty()
                && !name.ends_with('/')
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+=,.@_-/".contains(&byte))
        })
}

/// The name of an EKS cluster.
pub(super) fn cluster_name(node: &Node) -> Result<String, Fault> {
    eks_name(node, "the name of an EKS cluster", CLUSTER_NAME_LENGTH)
}

/// The name of a node group: EKS's rule, also where we only use it for a folder.
pub(super) fn node_group_name(node: &Node) -> Result<String, Fault> {
    eks_name(node, "the name of a node group", NODE_GROUP_NAME_LENGTH)
}

fn eks_name(node: &Node, what: &str, longest: usize) -> Result<String, Fault> {
    let name = text(node, what)?;
    if name.len() > longest {
        return Err(Fault::new(
            node.mark,
            format!("`{}` is too long for {what}", shown(name)),
            format!("write the name that EKS has, of {longest} characters at most"),
        ));
    }
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !name.bytes().all(legal) || !name.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return Err(Fault::new(
            node.mark,
            format!("`{}` is not {what}", shown(name)),
            "write letters, digits, `-` and `_`, beginning with a letter or digit, as EKS does",
        ));
    }
    Ok(name.into())
}

/// A region by its shape: `ap-southeast-1`, `us-gov-west-1`, `eusc-de-east-1`.
pub(super) fn region(node: &Node) -> Result<String, Fault> {
    let region = text(node, "a region")?;
    if is_region(region) {
        return Ok(region.into());
    }
    let zone_letter = region.strip_suffix(|last: char| last.is_ascii_lowercase()).filter(|rest| is_region(rest));
    let help = match zone_letter {
        Some(of_zone) => format!("this is an availability zone; write its region, `{of_zone}`"),
        None if is_region(&region.to_ascii_lowercase()) => format!("write `{}`", region.to_ascii_lowercase()),
        None => "write a region's code, such as `eu-central-1`".into(),
    };
    Err(Fault::new(node.mark, format!("`{}` is not a region", shown(region)), help))
}

fn is_region(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let Some((number, words)) = parts.split_last() else { return false };
    words.len() >= 2
        && words.iter().all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()))
        && (1..=2).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// An instance type by its shape, `family.size`.
pub(super) fn instance_type(node: &Node) -> Result<String, Fault> {
    let name = text(node, "an instance type")?;
    let legal = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit() || byte.is_ascii_lowercase())
    };
    if name.split_once('.').is_some_and(|(family, size)| legal(family) && legal(size)) {
        return Ok(name.into());
    }
    Err(Fault::new(
        node.mark,
        format!("`{}` is not an instance type", shown(name)),
        "write the family, a dot and the size, such as `m6i.large`",
    ))
}

/// The version of a launch template: a number, `$Latest` or `$Default`.
pub(super) fn launch_template_version(node: &Node, text: &str) -> Result<String, Fault> {
    const WORDS: [&str; 2] = ["$Latest", "$Default"];
    let number = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() && !text.starts_with('0');
    if number || WORDS.contains(&text) {
        return Ok(text.into());
    }
    let help = match nearest(text.trim_start_matches('$'), WORDS.iter().map(|word| word.trim_start_matches('$'))) {
        Some(near) => format!("did you mean `${near}`?"),
        None => format!("write its number, or {}", one_of(WORDS)),
    };
    Err(Fault::new(node.mark, format!("`{}` is not a version of a launch template", shown(text)), help))
}

/// The key of a tag.
pub(super) fn tag_key(node: &Node, key: &str) -> Result<(), Fault> {
    if key.trim().is_empty() || key.chars().count() > TAG_KEY_LENGTH {
        return Err(Fault::new(
            node.mark,
            format!("`{}` is not the key of a tag", shown(key)),
            format!("write the key that the subnets have, of {TAG_KEY_LENGTH} characters at most"),
        ));
    }
    Ok(())
}

/// The value of a tag.
pub(super) fn tag_value(node: &Node, value: &str) -> Result<(), Fault> {
    if value.chars().count() > TAG_VALUE_LENGTH {
        return Err(Fault::new(
            node.mark,
            format!("`{}` is too long for the value of a tag", shown(value)),
            format!("write the value that the subnets have, of {TAG_VALUE_LENGTH} characters at most"),
        ));
    }
    Ok(())
}

/// The name of a pool. It must fit into the tag `eniplan.dev/pool` of subnets and node groups.
pub(super) fn pool_name(node: &Node, name: &str) -> Result<(), Fault> {
    let legal = |character: char| character.is_alphanumeric() || " _.:/=+-@".contains(character);
    if name.trim().is_empty() || name.trim().len() != name.len() || !name.chars().all(legal) {
        return Err(Fault::new(
            node.mark,
            format!("`{}` cannot be the name of a pool", shown(name)),
            "write letters, digits and `_ . : / = + - @`, which is what the tag `eniplan.dev/pool` can hold",
        ));
    }
    tag_value(node, name)
}
