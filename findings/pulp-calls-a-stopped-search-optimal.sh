#!/usr/bin/env bash
# Guess: PuLP's status is "Optimal" for a solution that is proven to be, and something else where a limit stopped the
#        search.
# Seen:  it is "Optimal" where cbc stopped at a limit of nodes with a solution of 894, though 901 can be had. Only
#        sol_status tells them apart.
# With:  PuLP 2.6.0, cbc 2.10.8 (Debian bookworm).
set -euo pipefail
debs=(
  python3-pulp=2.6.0+dfsg-1 python3-pyparsing coinor-cbc=2.10.8+ds1-1 coinor-libcbc3=2.10.8+ds1-1
  coinor-libcgl1=0.60.3+repack1-4 coinor-libclp1=1.17.6-3 coinor-libcoinutils3v5=2.11.4+repack1-2
  coinor-libosi1v5=0.108.6+repack1-2 libblas3=3.11.0-2 liblapack3=3.11.0-2 libgfortran5 libquadmath0
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
seen=$(/usr/bin/python3 - <<'PY'
import os
import random
import pulp

draw = random.Random(3).randint
problem = pulp.LpProblem("jobs", pulp.LpMaximize)
jobs = [pulp.LpVariable(f"x{i}", cat="Binary") for i in range(30)]
problem += pulp.lpSum(draw(50, 100) * x for x in jobs)
for _ in range(5):
    problem += pulp.lpSum(draw(1, 100) * x for x in jobs) <= 500
for options in ["maxNodes 1"], []:
    status = problem.solve(pulp.COIN_CMD(path=os.path.abspath("usr/bin/cbc"), msg=0, options=options))
    print(pulp.LpStatus[status], round(pulp.value(problem.objective)), pulp.LpSolution[problem.sol_status])
PY
)
same "status, objective, sol_status with a limit and without" "$seen" "Optimal 894 Solution Found
Optimal 901 Optimal Solution Found"
