#!/usr/bin/env bash
# Guess: the Avro type that avsc infers from a value keeps that value.
# Seen:  whole numbers from 2^31 on and all fractions are "float", 32 bits wide: a time in milliseconds comes back 39
#        seconds later, and 3,000,000,001 bytes as 3,000,000,000. Smaller numbers are "int" and come back.
# With:  avsc 5.7.9.
set -euo pipefail
packages=(avsc@5.7.9)

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
const { Type } = require("avsc");
for (const value of [2000000001, 3000000001, 1700000000123, 0.1]) {
  const type = Type.forValue(value);
  console.log(value, JSON.stringify(type), type.fromBuffer(type.toBuffer(value)));
}
JS
same "values, their types, and as read again" "$(node main.js)" '2000000001 "int" 2000000001
3000000001 "float" 3000000000
1700000000123 "float" 1700000038912
0.1 "float" 0.10000000149011612'
