#!/bin/bash
set -ex
yum install -y amazon-ssm-agent
B64_CLUSTER_CA=LS0tLS1CRUdJTg==
/etc/eks/bootstrap.sh demo \
  --b64-cluster-ca $B64_CLUSTER_CA \
  --dns-cluster-ip 169.254.20.10 \
  --container-runtime containerd \
  --kubelet-extra-args '--node-labels=role=web,team=a,eks.amazonaws.com/nodegroup-image=ami-0aaaaaaaaaaaaaaaa,k8s.amazonaws.com/eniConfig=old --register-with-taints=dedicated=web:NoSchedule --eviction-hard=memory.available<5% --image-pull-progress-deadline=30m --max-pods=110 --v=3'
