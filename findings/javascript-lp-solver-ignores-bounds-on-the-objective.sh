#!/usr/bin/env bash
# Guess: javascript-lp-solver takes a bound on what is optimized as one on anything else.
# Seen:  an upper bound of 25 is passed over and the result is 30; with a lower bound of 25, which 30 keeps, the
#        program is infeasible. With the same numbers under another name, and in YALPS, the results are 25 and 30.
# With:  javascript-lp-solver 1.0.3, yalps 0.6.4.
set -euo pipefail
packages=(javascript-lp-solver@1.0.3 yalps@0.6.4)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
{
  npm init -y && npm install --no-audit --no-fund "${packages[@]}"
} >/dev/null 2>&1 || { echo "needs Node.js, npm and its registry"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

cat >main.js <<'JS'
const module_ = require("javascript-lp-solver");
const solver = module_.default || module_;
const yalps = require("yalps");
const variables = { eps: { rate: 2, copy: 2, cost: 1 }, ocs: { rate: 3, copy: 3, cost: 1 } };
for (const bound of ["max", "min"]) {
  for (const name of ["rate", "copy"]) {
    const constraints = { cost: { max: 10 }, [name]: { [bound]: 25 } };
    const { feasible, result } = solver.Solve({ optimize: "rate", opType: "max", constraints, variables });
    const other = yalps.solve({ objective: "rate", direction: "maximize", constraints, variables });
    console.log(bound, name, feasible, result, other.status, other.result);
  }
}
JS
same "bound, on what, javascript-lp-solver, YALPS" "$(node main.js)" "max rate true 30 optimal 25
max copy true 25 optimal 25
min rate false -0 optimal 30
min copy true 30 optimal 30"
