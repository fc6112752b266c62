//! What the help of each command ends with.

/// What `--help` ends with.
pub(super) const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 could not do it, 2 usage, 3 there are differences, 4 findings of severity error, 130 interrupted.
Data goes to standard output, everything else to standard error.";

pub(super) const INIT_EXAMPLES: &str = "\
Examples:
  # From a file, without credentials
  eniplan init --inventory inventory.json

  # Look first, write later
  eniplan init --inventory inventory.json --output-file - | less

Pools come from subnets tagged eniplan.dev/pool=NAME and from the ENIConfigs of the cluster, else from subnets that \
nobody uses. Comments in the file say why it says what it says. A file that is there is never overwritten.";

pub(super) const GENERATE_EXAMPLES: &str = "\
Examples:
  # From a file, without credentials
  eniplan generate --inventory inventory.json --config eniplan.yaml \\
    --out-dir eniplan-out

  # One node group's user data on standard output
  eniplan generate --inventory inventory.json --config eniplan.yaml \\
    --node-group batch --print user-data

  # Files for Karpenter as well
  eniplan generate --inventory inventory.json --config eniplan.yaml \\
    --for karpenter

Nothing is written when the plan has findings of severity error.";

pub(super) const INVENTORY_EXAMPLES: &str = "\
Examples:
  eniplan inventory --cluster prod --region eu-west-1 --out inventory.json

  # With pods and network interfaces
  eniplan inventory --cluster prod --for verify --out inventory.json

  # From a folder of what aws and kubectl have printed, without credentials
  eniplan inventory --from-dir prod-files --out inventory.json

  # For a bug report: pseudonyms for names and ids, no foreign user data
  eniplan inventory --cluster prod --redact --out inventory.json

Reads that are denied or fail are listed, and are gaps in the file: nothing is guessed from them.
User data can hold secrets: --out makes the file readable for you alone.";

pub(super) const PLAN_EXAMPLES: &str = "\
Examples:
  eniplan plan --inventory inventory.json --config eniplan.yaml
  eniplan plan --inventory inventory.json --config eniplan.yaml -o json |
    jq .findings

  # A phase of spec.phases, and the move to it from the one before
  eniplan plan --inventory inventory.json --config eniplan.yaml --phase NAME";

/// Both ways to name what is to be explained, which an error about a missing one shows, too.
pub(super) const EXPLAIN_USAGE: &str = "\
eniplan explain [OPTIONS] <NODE>
       eniplan explain [OPTIONS] --node-group <NAME> --subnet-cidr <CIDR>";

pub(super) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  # A node of the cluster
  eniplan explain --inventory inventory.json \\
    ip-10-0-17-5.eu-west-1.compute.internal

  # A node that the group could launch
  eniplan explain --inventory inventory.json \\
    --node-group batch --subnet-cidr 10.0.16.0/20

  # Under the strategy hash the instance id decides
  eniplan explain --inventory inventory.json \\
    --node-group batch --subnet-cidr 10.0.16.0/20 \\
    --instance-id i-0123456789abcdef0";

pub(super) const CAPACITY_EXAMPLES: &str = "\
Examples:
  # Will the groups fit, and what is full first
  eniplan capacity --inventory inventory.json --config eniplan.yaml

  # When, if six nodes come every week; and what a further /20 would buy
  eniplan capacity --inventory inventory.json --config eniplan.yaml \\
    --growth 6 --add /20

  # When, if only one group grows
  eniplan capacity --inventory inventory.json --config eniplan.yaml \\
    --growth batch=4

  # All phases of spec.phases, each with what makes the next one necessary
  eniplan capacity --inventory inventory.json --config eniplan.yaml --phases

  # The same as a page with pictures
  eniplan capacity --inventory inventory.json --config eniplan.yaml \\
    --phases --html capacity.html

All figures are for full nodes: as many pods as kubelet takes. Exit code 4: a pod subnet cannot hold its groups at their \
largest sizes.";

pub(super) const ADVISE_EXAMPLES: &str = "\
Examples:
  # Which mechanism fits, and what it needs
  eniplan advise --inventory inventory.json --config eniplan.yaml

  # What another one that fits would need
  eniplan advise --inventory inventory.json --config eniplan.yaml \\
    --mechanism static-labels

Without eniplan.yaml the wishes come from tags and from the ENIConfigs of the cluster.";

pub(super) const DIFF_EXAMPLES: &str = "\
Examples:
  # What would change, without credentials
  eniplan diff --inventory inventory.json --config eniplan.yaml

  # Save it, have it looked at, apply exactly that
  eniplan diff --cluster demo --roll --out change.json
  eniplan apply --cluster demo --diff change.json

Exit code 3 when there are differences or something waits for you.";

pub(super) const APPLY_EXAMPLES: &str = "\
Examples:
  # ENIConfigs, launch-template versions, CNI settings; node groups stay
  eniplan apply --cluster demo

  # One node group as a canary, then the rest
  eniplan apply --cluster demo --node-group batch --roll
  eniplan apply --cluster demo --roll

  # Back again
  eniplan apply --cluster demo --node-group batch --rollback

A run that stops says what was done, what failed and what was not started; the same command again does the rest.";

pub(super) const VERIFY_EXAMPLES: &str = "\
Examples:
  # Is every node and pod where the plan wants it
  eniplan verify --cluster demo

  # From a file, without credentials
  eniplan inventory --cluster demo --for verify --out inventory.json
  eniplan verify --inventory inventory.json

  # Wait until a group's new nodes are right, half an hour at most
  eniplan verify --cluster demo --node-group batch --watch --timeout 1800

  # For CI and for monitoring
  eniplan verify --cluster demo -o junit > verify.xml
  eniplan verify --cluster demo -o openmetrics > demo.prom.new
  if [ -s demo.prom.new ]; then mv demo.prom.new demo.prom; fi

Nothing is changed. Exit code 4: a finding of severity error, or with --watch: not right in time.";

pub(super) const IAM_POLICY_EXAMPLES: &str = "\
Examples:
  eniplan iam-policy --for apply --cluster demo > policy.json
  eniplan iam-policy --for apply --rbac | kubectl apply -f -";

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  eniplan completions bash > /etc/bash_completion.d/eniplan
  eniplan completions zsh > \"${fpath[1]}/_eniplan\"";

pub(super) const MAN_EXAMPLES: &str = "\
Examples:
  eniplan man > eniplan.1
  eniplan man generate > eniplan-generate.1";

pub(super) const SCHEMA_EXAMPLES: &str = "\
Examples:
  eniplan schema config > eniplan.schema.json

Editors with the YAML language server check the file when its first line is
  # yaml-language-server: $schema=eniplan.schema.json";

pub(super) const LINT_EXAMPLES: &str = "\
Examples:
  eniplan lint user-data.mime
  aws ec2 describe-launch-template-versions --versions 4 \\
    --launch-template-id lt-0123456789abcdef0 --output text \\
    --query 'LaunchTemplateVersions[0].LaunchTemplateData.UserData' |
    eniplan lint -
  eniplan lint --family al2 --image-id ami-0123456789abcdef0 user-data.sh

Rules that guess about shell are warnings. Exit code 4: a finding of severity error.";
