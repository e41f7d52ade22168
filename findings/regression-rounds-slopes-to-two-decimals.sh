#!/usr/bin/env bash
# Guess: regression.linear finds the line of times over sizes that lie on one; its option precision, 2, is for what is
#        shown.
# Seen:  the slope itself is rounded to two decimals, before the intercept and predict are made of it. 0.0008 µs a byte
#        is 0, the intercept is the mean, 10⁶ bytes are predicted to take 9 µs in place of 805, and r2 is 0 for points
#        that lie on a line. The README calls precision a number of significant figures.
# With:  regression 2.0.1 (npm).
set -euo pipefail
packages=(regression@2.0.1)

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
const regression = require("regression");
const points = [...Array(11).keys()].map(i => [1000 * i, 5 + 0.8 * i]);
for (const options of [{}, { precision: 9 }]) {
  const { equation: [slope, start], r2, predict } = regression.linear(points, options);
  console.log(slope, start, r2, predict(1e6)[1]);
}
JS
same "slope, start, r2 and prediction; as it comes, and with nine decimals" "$(node main.js)" "0 9 0 9
0.0008 5 1 805"
