//! NodeConfig documents of nodeadm: read as nodeadm reads them.

use serde_json::{Map, Value};

use super::mime::Part;
use super::{kind, layers};

/// The API group. Source: amazon-eks-ami, `nodeadm/api/v1alpha1`.
const GROUP: &str = "node.eks.aws/";

/// A NodeConfig.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeConfig {
    /// `spec`.
    pub spec: Map<String, Value>,
}

/// Why nodeadm would not take a document for a NodeConfig. It then stops, and the node never joins.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodeConfigError {
    /// Not UTF-8.
    #[error("it is not UTF-8")]
    NotText,
    /// Not YAML and not JSON.
    #[error("it is not YAML: {message}")]
    NotYaml {
        /// What the parser said, in one line.
        message: String,
        /// The line, from 1, where the parser knows it.
        line: Option<usize>,
    },
    /// Another kind of object.
    #[error("it is not a NodeConfig: apiVersion `{api_version}`, kind `{kind}`")]
    OtherKind {
        /// Its `apiVersion`; empty where it has none.
        api_version: String,
        /// Its `kind`; empty where it has none.
        kind: String,
    },
}

impl NodeConfig {
    /// Reads YAML or JSON.
    ///
    /// # Errors
    ///
    /// When nodeadm would refuse the text.
    pub fn parse(text: &[u8]) -> Result<Self, NodeConfigError> {
        let text = std::str::from_utf8(text).map_err(|_| NodeConfigError::NotText)?;
        let value = first_document(text)?;
        let field = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (api_version, kind) = (field("apiVersion"), field("kind"));
        if kind != "NodeConfig" || !api_version.starts_with(GROUP) {
            return Err(NodeConfigError::OtherKind { api_version, kind });
        }
        let spec = value.get("spec").and_then(Value::as_object).cloned().unwrap_or_default();
        Ok(Self { spec })
    }

    /// Reads a part as nodeadm does: a body in base64 or gzip is unpacked first.
    ///
    /// # Errors
    ///
    /// When nodeadm would refuse it.
    pub fn of_part(part: &Part) -> Result<Self, NodeConfigError> {
        let content = part.content();
        match layers::peel(&content) {
            Ok((_, text)) => Self::parse(&text),
            Err(_) => Err(NodeConfigError::NotText),
        }
    }

    /// `spec.kubelet.flags`.
    pub fn flags(&self) -> Vec<&str> {
        let flags = self.at(&["kubelet", "flags"]).and_then(Value::as_array);
        flags.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// `spec.kubelet.config.maxPods`.
    pub fn max_pods(&self) -> Option<u64> {
        self.at(&["kubelet", "config", "maxPods"]).and_then(Value::as_u64)
    }

    /// `spec.kubelet.config.clusterDNS`.
    pub fn cluster_dns(&self) -> Vec<&str> {
        let addresses = self.at(&["kubelet", "config", "clusterDNS"]).and_then(Value::as_array);
        addresses.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// A text under `spec.cluster`; `None` where it is absent or empty.
    pub fn cluster(&self, field: &str) -> Option<&str> {
        self.at(&["cluster", field]).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    fn at(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.spec.get(*first)?, |value, key| value.get(key))
    }
}

/// Whether nodeadm reads a part. Source: amazon-eks-ami, `nodeadm/internal/configprovider/userdata.go`.
pub fn is_node_config(part: &Part) -> bool {
    part.is(kind::NODE_CONFIG)
}

/// The first document of a YAML text, as the Kubernetes decoder takes it.
fn first_document(text: &str) -> Result<Value, NodeConfigError> {
    let not_yaml = |error: serde_saphyr::Error| NodeConfigError::NotYaml {
        line: error.location().and_then(|location| usize::try_from(location.line()).ok()),
        message: error.to_string().lines().next().unwrap_or_default().to_owned(),
    };
    match serde_saphyr::from_str::<Value>(text) {
        Ok(value) => Ok(value),
        Err(error) => match serde_saphyr::from_multiple::<Value>(text) {
            Ok(documents) => documents.into_iter().next().ok_or_else(|| not_yaml(error)),
            Err(_) => Err(not_yaml(error)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_nodeadm_takes() {
        let text = b"---\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster: {name: demo, cidr: ''}\n  kubelet:\n    config:\n      maxPods: 20\n      clusterDNS: [169.254.20.10]\n    flags:\n      - --node-labels=a=b\n      - \"--v=3\"\n";
        let config = NodeConfig::parse(text).unwrap();
        assert_eq!(config.flags(), ["--node-labels=a=b", "--v=3"]);
        assert_eq!((config.max_pods(), config.cluster("name"), config.cluster("cidr")), (Some(20), Some("demo"), None));
        assert_eq!(config.cluster_dns(), ["169.254.20.10"]);
        let json = b"{\"apiVersion\":\"node.eks.aws/v1alpha1\",\"kind\":\"NodeConfig\"}";
        assert_eq!(NodeConfig::parse(json), Ok(NodeConfig::default()));
        let two = [text.as_slice(), b"---\nkind: Pod\n"].concat();
        assert_eq!(NodeConfig::parse(&two).unwrap(), config);
    }

    #[test]
    fn documents_that_nodeadm_refuses() {
        for (text, message) in [
            (&b"\xff"[..], "it is not UTF-8"),
            (b"apiVersion: v1\nkind: Pod\n", "it is not a NodeConfig: apiVersion `v1`, kind `Pod`"),
            (b"kind: NodeConfig\n", "it is not a NodeConfig: apiVersion ``, kind `NodeConfig`"),
        ] {
            assert_eq!(NodeConfig::parse(text).unwrap_err().to_string(), message);
        }
        let tab = NodeConfig::parse(b"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n\tcluster: {}\n");
        assert!(matches!(tab, Err(NodeConfigError::NotYaml { line: Some(3 | 4), .. })), "{tab:?}");
    }
}
