#!/usr/bin/env bash
# Guess: the median of a pondjs TimeSeries is its 50th percentile, and that of 5, 1, 100 and 2 is 3.5.
# Seen:  median sorts numbers as text: 1, 100, 2, 5, and gives 51. The 50th percentile is 3.5. Of 1 to 10 the median is
#        4.5; as long as all numbers have as many digits nothing is seen.
# With:  pondjs 0.9.0 (npm), and @babel/runtime 7.28.4, which it needs and does not name.
set -euo pipefail
packages=(pondjs@0.9.0 @babel/runtime@7.28.4)

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
const { TimeSeries } = require("pondjs");
for (const rates of [[5, 1, 100, 2], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [5, 1, 7, 2]]) {
  const points = rates.map((rate, i) => [1000 * i, rate]);
  const series = new TimeSeries({ name: "link", columns: ["time", "rate"], points });
  console.log(rates.join(" "), "-", series.median("rate"), series.percentile(50, "rate"));
}
JS
same "rates, median, 50th percentile" "$(node main.js)" "5 1 100 2 - 51 3.5
1 2 3 4 5 6 7 8 9 10 - 4.5 5.5
5 1 7 2 - 3.5 3.5"
