#!/usr/bin/env bash
# Guess: intField of a counter that comes as text, as gNMI's JSON has 64-bit numbers, writes these digits.
# Seen:  it goes through a float: 9007199254740993 is written as 9007199254740992, and 9223372036854775807, the
#        greatest int64, is refused. uintField writes the digits of both. Fractions go down, -0.5 to -1.
# With:  @influxdata/influxdb-client 1.35.0.
set -euo pipefail
packages=(@influxdata/influxdb-client@1.35.0)

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
const { Point } = require("@influxdata/influxdb-client");
const write = (method, value) => {
  try {
    console.log(method, value, new Point("port")[method]("octets", value).timestamp("1").toLineProtocol());
  } catch (error) {
    console.log(method, value, error.message);
  }
};
for (const method of ["intField", "uintField"]) {
  for (const value of ["9007199254740993", "9223372036854775807"]) write(method, value);
}
write("intField", -0.5);
JS
same "fields" "$(node main.js)" "intField 9007199254740993 port octets=9007199254740992i 1
intField 9223372036854775807 invalid integer value for field 'octets': '9223372036854775807'!
uintField 9007199254740993 port octets=9007199254740993u 1
uintField 9223372036854775807 port octets=9223372036854775807u 1
intField -0.5 port octets=-1i 1"
