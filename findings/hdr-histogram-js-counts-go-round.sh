#!/usr/bin/env bash
# Guess: with 16-bit buckets a value that is recorded 70,000 times is refused, or its count stays at 65,535.
# Seen:  the count goes round without an error, and the total does not: the median of 70,000 times 5 and one 9 is 0,
#        which was never recorded. 8-bit buckets do so from 256 on.
# With:  hdr-histogram-js 3.0.1.
set -euo pipefail
packages=(hdr-histogram-js@3.0.1)

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
const hdr = require("hdr-histogram-js");
for (const bitBucketSize of [8, 16, 32]) {
  const histogram = hdr.build({ bitBucketSize });
  for (let i = 0; i < 70000; i++) histogram.recordValue(5);
  histogram.recordValue(9);
  console.log(bitBucketSize, histogram.totalCount, histogram.getValueAtPercentile(50));
}
JS
same "bits of a bucket, recorded, median" "$(node main.js)" "8 70001 0
16 70001 0
32 70001 5"
