#!/usr/bin/env bash
# Guess: Debian ships topology/3d_torus, and the manual page of slurm.conf lists it: nodes whose names end in three
#        digits, n000 to n111, are placed by best fit in three dimensions.
# Seen:  slurmctld ends as it starts, with "fatal: current logic only supports 3-dimensions": the plug-in is there and
#        cannot be used. With topology/none the same configuration runs.
# With:  Slurm 22.05.8 (Debian bookworm).
set -euo pipefail
[ "$(id -u)" -eq 0 ] || { echo "needs root for a network namespace"; exit 77; }
debs=(
  slurmctld=22.05.8-4+deb12u3 slurm-client=22.05.8-4+deb12u3 libslurm38=22.05.8-4+deb12u3
  slurm-wlm-basic-plugins=22.05.8-4+deb12u3 liblz4-1 libreadline8
)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
{
  apt-get -qq -o APT::Sandbox::User=root download "${debs[@]}" &&
    for deb in *.deb; do dpkg -x "$deb" .; done
} || { echo "needs packages of Debian bookworm, and apt-get update before"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

plugins=$dir/usr/lib/$(uname -m)-linux-gnu/slurm-wlm
export LD_LIBRARY_PATH="$dir/usr/lib/$(uname -m)-linux-gnu:$plugins" SLURM_CONF=$dir/slurm.conf
mkdir state
# What slurmctld says with a topology, in five seconds: its last fatal error, or that it runs.
run() {
  cat >slurm.conf <<END
ClusterName=c
SlurmctldHost=h(192.0.2.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
MpiDefault=none
PluginDir=$plugins
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/slurmctld.pid
TopologyPlugin=topology/$1
NodeName=n[000-001,010-011,100-101,110-111] NodeAddr=192.0.2.1
PartitionName=all Nodes=ALL Default=YES
END
  unshare --net --uts sh -c 'hostname h; ip link set lo up; ip address add 192.0.2.1/32 dev lo
    timeout --signal=KILL 5 usr/sbin/slurmctld-wlm -D -i 2>&1 || true' >log
  sed -n 's/^.*\(fatal: .*\)$/\1/p; s/^.*Running as primary controller.*$/it runs/p' log | tail -n 1
}
same "topology/none" "$(run none)" "it runs"
same "topology/3d_torus" "$(run 3d_torus)" "fatal: current logic only supports 3-dimensions"
