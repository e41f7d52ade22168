#!/usr/bin/env bash
# Guess: pyroute2's netem takes percent for what is duplicated, as for what is lost and what is corrupted.
# Seen:  loss=50 sends half of 2^32, which is 50 %, and duplicate=50 sends 50, which is 0.000001 %: nothing is
#        duplicated, and no error is reported.
# With:  pyroute2 0.7.2 (Debian bookworm).
set -euo pipefail
debs=(python3-pyroute2=0.7.2-2)

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

[ -x /usr/bin/python3 ] || { echo "needs Debian's Python"; exit 77; }
export PYTHONPATH="$dir/usr/lib/python3/dist-packages"
seen=$(/usr/bin/python3 - <<'PY'
from pyroute2.netlink.rtnl.tcmsg.sched_netem import get_parameters

sent = get_parameters({"loss": 50, "prob_corrupt": 50, "duplicate": 50})
corrupt = dict(sent["attrs"])["TCA_NETEM_CORRUPT"]["prob_corrupt"]
for name, number in ("loss", sent["loss"]), ("corrupt", corrupt), ("duplicate", sent["duplicate"]):
    print(f"{name} {number} {100 * number / 2**32:.7f} %")
PY
)
same "numbers for 50 in netem's message, and what they are of 2^32" "$seen" "loss 2147483647 50.0000000 %
corrupt 2147483647 50.0000000 %
duplicate 50 0.0000012 %"
