#!/bin/bash
yum install -y nfs-utils
echo "vm.max_map_count=262144" >> /etc/sysctl.conf
