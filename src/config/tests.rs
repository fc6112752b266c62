use super::*;
use crate::error::Error;

/// The example of the manual, with real ids.
const EXAMPLE: &str = r#"apiVersion: eniplan.dev/v1alpha1
kind: PodNetworkPlan
metadata: {name: demo, region: ap-southeast-1}     # the EKS cluster
spec:
  securityGroups: [sg-0a08c1f20ba2d31fa]           # default: the cluster security group
  cni: {env: {ENABLE_PREFIX_DELEGATION: "true"}}
  pools:
    default: {names: zone, subnets: [{id: subnet-0aaaaaaaaaaaaaaaa}, {id: subnet-0bbbbbbbbbbbbbbbb}, {id: subnet-0cccccccccccccccc}]}
    batch:   {names: subnet, subnetTags: {team: batch}, securityGroups: [sg-0b17d2031cb3e420b]}
  nodeGroups:
    - {name: web,   pools: [default]}
    - {name: batch, pools: [batch], strategy: hash, weights: capacity, maxPods: auto, onNoMatch: fail, adopt: true}
    - name: exact
      map: [{cidr: 172.31.16.0/20, eniConfigs: [pod-1a-subnet-3]}]
  ignore: [legacy-windows]
"#;

fn explain(error: &Error) -> String {
    let Error::Config { snippet, .. } = error else { panic!("{error}") };
    format!("error: {error}\n{snippet}\nhelp: {}", error.help())
}

#[track_caller]
fn read(text: &str) -> Config {
    Config::from_yaml(text, "eniplan.yaml").unwrap_or_else(|error| panic!("{}", explain(&error)))
}

#[test]
fn the_example_says_what_it_says() {
    let config = read(EXAMPLE);
    insta::assert_debug_snapshot!(config);
}

#[test]
fn broken_files_say_where_why_and_what_to_write() {
    insta::glob!("../../tests/broken/config", "*.yaml", |path| {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        let error = Config::from_yaml(&text, &name).expect_err("the file is broken");
        insta::assert_snapshot!(explain(&error));
    });
}
