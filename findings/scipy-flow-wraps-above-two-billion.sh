#!/usr/bin/env bash
# Guess: scipy's maximum_flow takes capacities of type int64 as they are, or refuses what it cannot hold.
# Seen:  it cuts them to 32 bits without an error or a warning. In bits a second, a path of 3 Gbit/s carries 0, one of 5
#        carries 0.7, one of 10 carries 1.4. Capacities below 2^31 whose sum is above are right.
# With:  scipy 1.10.1, numpy 1.24.2 (Debian bookworm).
set -euo pipefail
debs=(
  python3-scipy=1.10.1-2 python3-decorator python3-numpy=1:1.24.2-1+deb12u1 libblas3=3.11.0-2 liblapack3=3.11.0-2
  libgfortran5 libquadmath0
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

[ -x /usr/bin/python3 ] || { echo "needs Debian's Python"; exit 77; }
export PYTHONPATH="$dir/usr/lib/python3/dist-packages"
LD_LIBRARY_PATH+=":$dir/usr/lib/$(uname -m)-linux-gnu/blas:$dir/usr/lib/$(uname -m)-linux-gnu/lapack"
seen=$(/usr/bin/python3 -W error - <<'PY'
import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow


def flow(edges):
    rows, columns, capacities = zip(*edges)
    fabric = csr_matrix((np.array(capacities, dtype=np.int64), (rows, columns)), shape=(4, 4))
    return maximum_flow(fabric, 0, 3).flow_value


for gigabits in 1, 3, 4, 5, 10, 100:
    print(gigabits, flow([(0, 1, gigabits * 10**9), (1, 3, gigabits * 10**9)]))
print("two paths of 2", flow([(0, i, 2 * 10**9) for i in (1, 2)] + [(i, 3, 2 * 10**9) for i in (1, 2)]))
PY
)
same "flow along a path, by Gbit/s" "$seen" "1 1000000000
3 0
4 0
5 705032704
10 1410065408
100 1215752192
two paths of 2 4000000000"
