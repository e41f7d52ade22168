#!/usr/bin/env bash
# Guess: netaddr's IPNetwork("10.0.0.1/24") and IPNetwork("10.0.0.2/24") differ, since each keeps and prints its host's
#        address.
# Seen:  they are equal and hash alike: of three interfaces' addresses as keys of a dictionary one is left, with the
#        last one's value. The standard library's ip_interface keeps three.
# With:  netaddr 0.8.0 (Debian bookworm).
set -euo pipefail
debs=(python3-netaddr=0.8.0-2)

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

[ -x /usr/bin/python3 ] || { echo "needs Debian's Python"; exit 77; }
export PYTHONPATH="$dir/usr/lib/python3/dist-packages"
seen=$(/usr/bin/python3 - <<'PY'
from ipaddress import ip_interface
from netaddr import IPNetwork
hosts = {"10.0.0.1/24": "a", "10.0.0.2/24": "b", "10.0.0.3/24": "c"}
for kind in IPNetwork, ip_interface:
    print({str(a): host for a, host in {kind(a): host for a, host in hosts.items()}.items()})
PY
)
same "hosts by address, of netaddr and of the standard library" "$seen" "{'10.0.0.1/24': 'c'}
{'10.0.0.1/24': 'a', '10.0.0.2/24': 'b', '10.0.0.3/24': 'c'}"
