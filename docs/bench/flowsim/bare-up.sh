#!/bin/bash
# Makes the namespaces and veth pairs of a hybrid fabric by one `ip -batch`, in namespaces that go with it, and nothing
# else: bare-up.sh RACKS HOSTS SPINES. As root.
set -eu
batch() {
  for ((r = 0; r < $1; r++)); do
    for ((h = 0; h < $2; h++)); do
      echo "netns add h$r-$h"
      echo "link add tor$r-$h type veth peer name eth0 netns h$r-$h"
    done
    for ((s = 0; s < $3; s++)); do
      echo "link add tor$r-$(($2 + s)) type veth peer name spine$s-$r"
    done
    echo "link add tor$r-$(($2 + $3)) type veth peer name ocs-$r"
  done
}
script=$(mktemp)
trap 'rm -f "$script"' EXIT
batch "$@" >"$script"
unshare --net --mount bash -c 'mount -t tmpfs none /run && mkdir /run/netns && time ip -batch "$0"' "$script"
