#!/usr/bin/env bash
# Guess: the median of 99 flows of 1 ms and one of 100 ms is 1, and a digest that has room for each sample says so.
# Seen:  it is 1.99, and the 75th percentile is 51.49: equal samples become one centroid, whose middle the line to the
#        next one starts from. With delta=false, which merges nothing, both are 1.
# With:  tdigest 0.1.3 (npm).
set -euo pipefail
packages=(tdigest@0.1.3)

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
const { TDigest } = require("tdigest");
for (const digest of [new TDigest(), new TDigest(false)]) {
  for (let i = 0; i < 99; i++) digest.push(1);
  digest.push(100);
  console.log(...digest.percentile([0.5, 0.75, 0.9]));
}
JS
same "median, 75th and 90th percentile, then with delta=false" "$(node main.js)" "1.99 51.49 81.19
1 1 1"
