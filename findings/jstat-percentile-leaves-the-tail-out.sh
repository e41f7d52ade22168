#!/usr/bin/env bash
# Guess: jStat.percentile of k < 1 interpolates up to the greatest sample, as Excel's PERCENTILE and numpy do.
# Seen:  where the rank is beyond the last sample but one, that sample is the answer: of 1 to 9 and 1000, the 99th and
#        the 99.9th percentile are 9, as is the 90th. Only k = 1 gives 1000. With the flag for the exclusive kind the
#        99th is 1000. jStat.quantiles gives 1000 as well.
# With:  jstat 1.9.6 (npm).
set -euo pipefail
packages=(jstat@1.9.6)

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
const { jStat } = require("jstat");
const samples = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1000];
for (const k of [0.5, 0.8, 0.9, 0.99, 0.999, 1]) console.log(k, jStat.percentile(samples, k));
console.log("exclusive", jStat.percentile(samples, 0.99, true), "quantiles", ...jStat.quantiles(samples, [0.5, 0.99]));
JS
same "percentiles" "$(node main.js)" "0.5 5.5
0.8 8.2
0.9 9
0.99 9
0.999 9
1 1000
exclusive 1000 quantiles 5.5 1000"
