#!/usr/bin/env bash
# Guess: --dependency=afterok:N of a job that was cancelled or failed holds the job that waits for it, and of a number
#        that no job has is refused.
# Seen:  sbatch takes both without a word. A job that slurmctld has forgotten (MinJobAge after its end) or never had
#        counts as done well: the dependency is dropped, and the job may start at once. The same request, while the
#        cancelled job is remembered, holds as "failed".
# With:  Slurm 22.05.8 (Debian bookworm).
set -euo pipefail
debs=(
  slurmctld=22.05.8-4+deb12u3 slurm-client=22.05.8-4+deb12u3 libslurm38=22.05.8-4+deb12u3
  slurm-wlm-basic-plugins=22.05.8-4+deb12u3 liblz4-1 libreadline8 libjson-c5
)

if [ "${1:-}" != inside ]; then
  [ "$(id -u)" = 0 ] || { echo "needs root, to make namespaces"; exit 77; }
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  (
    cd "$dir"
    apt-get -qq -o APT::Sandbox::User=root download "${debs[@]}"
    for deb in *.deb; do dpkg -x "$deb" .; done
  ) || { echo "needs packages of Debian bookworm, and apt-get update before"; exit 77; }
  export dir
  timeout 115 unshare --net --mount --uts --pid --fork --kill-child --mount-proc bash "$0" inside
  exit
fi
cd "$dir"
mount -t tmpfs none /run
hostname controller
ip link set lo up
ip address add 192.0.2.1/32 dev lo

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

plugins=$dir/usr/lib/$(uname -m)-linux-gnu/slurm-wlm
export LD_LIBRARY_PATH="$dir/usr/lib/$(uname -m)-linux-gnu:$plugins"
export SLURM_CONF=$dir/slurm.conf PATH="$dir/usr/bin:$PATH"
mkdir state
cat >slurm.conf <<CONF
ClusterName=c
SlurmctldHost=controller(127.0.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
PluginDir=$plugins
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/pid
SlurmctldLogFile=$dir/log
ProctrackType=proctrack/linuxproc
SwitchType=switch/none
MpiDefault=none
MinJobAge=2
NodeName=n1 NodeAddr=127.0.0.1
PartitionName=p Nodes=ALL Default=YES
CONF
usr/sbin/slurmctld-wlm -c
until scontrol ping | grep -q 'is UP'; do sleep 0.2; done

waits() { # job that it is to wait for
  job=$(sbatch --parsable --output=/dev/null --dependency="afterok:$1" --wrap true)
  sleep 1
  scontrol show job "$job" | grep -oE 'Dependency=\S+|EligibleTime=Unknown' | paste -sd' '
}
first=$(sbatch --parsable --output=/dev/null --hold --wrap true)
same "on a held job" "$(waits "$first")" "Dependency=afterok:$first(unfulfilled) EligibleTime=Unknown"
scancel "$first"
same "on that job, cancelled" "$(waits "$first")" \
  "Dependency=afterok:$first(failed) EligibleTime=Unknown"
while scontrol show job "$first" >/dev/null 2>&1; do sleep 1; done
same "on that job, forgotten" "$(waits "$first")" "Dependency=(null)"
same "on a job that never was" "$(waits 4711)" "Dependency=(null)"
