#!/usr/bin/env bash
# Guess: bytes.parse takes '10GiB' and '1.5Gbit' for what they say, or returns null for a unit that it does not know,
#        as it does for text without a number.
# Seen:  a number before any other unit than kb, mb, gb, tb and pb is cut to an integer and taken for bytes: 10GiB is
#        10, 1.5Gbit 1, 40Gb/s 40, and 2.5TB/day 2. '10Gb' is 10 · 2³⁰ bytes.
# With:  bytes 3.1.2 (npm).
set -euo pipefail
packages=(bytes@3.1.2)

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
const bytes = require("bytes");
console.log(...["10GiB", "1.5Gbit", "40Gb/s", "2.5TB/day", "10Gb", "many"].map(text => bytes.parse(text)));
JS
same "10GiB, 1.5Gbit, 40Gb/s, 2.5TB/day, 10Gb and text without a number" "$(node main.js)" "10 1 40 2 10737418240 null"
