#!/usr/bin/env bash
# Guess: nw_tos=46 of an OpenFlow match in ovs-ofctl is DSCP 46 (EF), or is refused as no DSCP in the upper six bits.
# Seen:  it is the whole byte with the lowest two bits cut off in silence: 46 becomes 44, which is DSCP 11, and EF is
#        184. The action of the same name, mod_nw_tos:46, is refused. ip_dscp=46 is EF in the match.
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
same "match nw_tos=46" "$(parsed ip,nw_tos=46,actions=output:1)" "ip,nw_tos=44 actions=output:1"
same "match ip_dscp=46" "$(parsed ip,ip_dscp=46,actions=output:1)" "ip,nw_tos=184 actions=output:1"
same "action mod_nw_tos:46" "$(parsed ip,actions=mod_nw_tos:46,output:1)$(cat log)" "ovs-ofctl: 46: not a valid TOS"
