#!/usr/bin/env bash
# Guess: ovs-ofctl refuses a flow whose match names an IPv4 address but not `ip`, or takes the protocol from it.
# Seen:  the address is taken out of the match, with a line of level INFO and exit 0: nw_dst=10.0.0.1,actions=drop
#        drops everything. So does ip,tp_dst=80 drop all of IPv4, for want of `tcp`.
# With:  Open vSwitch 3.1.0 (Debian bookworm).
set -euo pipefail
debs=(openvswitch-common=3.1.0-2+deb12u1 libunbound8 libxdp1 libbpf1 libevent-2.1-7)

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

parsed() { usr/bin/ovs-ofctl parse-flow "$1" 2>log | sed -n 's/.*ADD //p'; }
same "nw_dst=10.0.0.1,actions=drop" "$(parsed nw_dst=10.0.0.1,actions=drop)" "actions=drop"
grep -m 1 INFO log
same "ip,nw_dst=10.0.0.1,actions=drop" "$(parsed ip,nw_dst=10.0.0.1,actions=drop)" "ip,nw_dst=10.0.0.1 actions=drop"
same "ip,tp_dst=80,actions=drop" "$(parsed ip,tp_dst=80,actions=drop)" "ip actions=drop"
