#!/usr/bin/env bash
# Guess: a histogram of two ports is read as two metrics, each with its labels, buckets, sum and count, as a gauge is.
# Seen:  as one without labels, sum and count, with the buckets of the port that comes last; a summary as well. No error
#        is reported.
# With:  parse-prometheus-text-format 1.1.1.
set -euo pipefail
packages=(parse-prometheus-text-format@1.1.1)

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
const parse = require("parse-prometheus-text-format");
const histogram = (port, below, all) => `delay_seconds_bucket{port="${port}",le="0.001"} ${below}
delay_seconds_bucket{port="${port}",le="+Inf"} ${all}
delay_seconds_sum{port="${port}"} 0.25
delay_seconds_count{port="${port}"} ${all}
`;
const text = `# TYPE delay_seconds histogram
${histogram(1, 30, 50)}${histogram(2, 3, 5)}# TYPE queue_bytes gauge
queue_bytes{port="1"} 7
queue_bytes{port="2"} 8
`;
for (const family of parse(text)) console.log(family.name, JSON.stringify(family.metrics));
JS
same "a histogram and a gauge of two ports" "$(node main.js)" \
  'delay_seconds [{"buckets":{"0.001":"3","+Inf":"5"}}]
queue_bytes [{"value":"7","labels":{"port":"1"}},{"value":"8","labels":{"port":"2"}}]'
