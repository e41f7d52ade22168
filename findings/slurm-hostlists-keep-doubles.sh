#!/usr/bin/env bash
# Guess: scontrol show hostlistsorted makes a list of names shorter and unique: a node named twice is in it once.
# Seen:  doubles stay, sorted beside each other, and show hostnames gives them back: n[1,1-2,9-10] are five names of
#        four nodes. What counts names by it counts one node twice.
# With:  Slurm 22.05.8 (Debian bookworm).
set -euo pipefail
debs=(
  slurm-client=22.05.8-4+deb12u3 libslurm38=22.05.8-4+deb12u3 slurm-wlm-basic-plugins=22.05.8-4+deb12u3
  liblz4-1 libreadline8
)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
{
  apt-get -qq -o APT::Sandbox::User=root download "${debs[@]}" &&
    for deb in *.deb; do dpkg -x "$deb" .; done
} || { echo "needs packages of Debian bookworm, and apt-get update before"; exit 77; }
export LD_LIBRARY_PATH="$dir/usr/lib/x86_64-linux-gnu"

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

plugins=$dir/usr/lib/$(uname -m)-linux-gnu/slurm-wlm
LD_LIBRARY_PATH+=":$plugins"
printf 'ClusterName=c\nSlurmctldHost=h\nNodeName=n1\nAuthType=auth/none\nPluginDir=%s\n' "$plugins" >slurm.conf
export SLURM_CONF=$dir/slurm.conf
scontrol() { usr/bin/scontrol "$@"; }
same "sorted" "$(scontrol show hostlistsorted n10,n9,n1,n1,n2)" "n[1,1-2,9-10]"
same "names" "$(scontrol show hostnames 'n[1,1-2,9-10]' | paste -sd,)" "n1,n1,n2,n9,n10"
