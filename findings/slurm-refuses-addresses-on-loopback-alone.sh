#!/usr/bin/env bash
# Guess: SlurmctldHost=h(127.0.0.1) gives an address, so that nothing has to be resolved: a client in a network namespace
#        with loopback alone reaches a controller there.
# Seen:  the address is refused as an unknown name until the namespace has any address that is not loopback's, to which
#        nothing is ever sent: then the same client finds 127.0.0.1, and says only that nobody listens.
# With:  Slurm 22.05.8 (Debian bookworm); 26.05.5 does the same.
set -euo pipefail
[ "$(id -u)" -eq 0 ] || { echo "needs root for a network namespace"; exit 77; }
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

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

plugins=$dir/usr/lib/$(uname -m)-linux-gnu/slurm-wlm
export LD_LIBRARY_PATH="$dir/usr/lib/$(uname -m)-linux-gnu:$plugins"
printf 'ClusterName=c\nSlurmctldHost=h(127.0.0.1)\nNodeName=n1\nAuthType=auth/none\nPluginDir=%s\nMessageTimeout=2\n' \
  "$plugins" >slurm.conf
export SLURM_CONF=$dir/slurm.conf
# How many times it says that the name is not known.
unknown() { # commands before
  unshare -n sh -c "ip link set lo up; $1; timeout 60 usr/bin/sinfo" 2>&1 | grep -c 'getaddrinfo() failed: Name or service not known' || true
}
[ "$(unknown true)" -gt 0 ] && alone=unknown || alone=known
same "127.0.0.1 with loopback alone" "$alone" unknown
[ "$(unknown 'ip address add 192.0.2.1/32 dev lo')" -gt 0 ] && beside=unknown || beside=known
same "127.0.0.1 beside an address that nobody uses" "$beside" known
