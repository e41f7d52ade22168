#!/usr/bin/env bash
# Guess: a library of units reads 10 Gb/s as ten gigabits a second, as mathjs does, or refuses it.
# Seen:  pint and GNU units take b for barn, and Gb for gilbert, a unit of magnetism: 10 Gb/s is 7.96 amperes a second,
#        and in pint 10 Gb/s over 100 Mb/s is 0.1, not 100, without an error. Gbit is a gigabit in both; as pint's bits
#        have no dimension, 10 Gbit/s equals 10 GHz.
# With:  pint 0.19.2, GNU units 2.22 (Debian bookworm), mathjs 15.2.0 (npm).
set -euo pipefail
debs=(python3-pint=0.19.2-1 units=2.22-2)
packages=(mathjs@15.2.0)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
{
  apt-get -qq -o APT::Sandbox::User=root download "${debs[@]}" &&
    for deb in *.deb; do dpkg -x "$deb" .; done
} || { echo "needs packages of Debian bookworm, and apt-get update before"; exit 77; }
{
  npm init -y && npm install --no-audit --no-fund "${packages[@]}"
} >/dev/null 2>&1 || { echo "needs Node.js, npm and its registry"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

ln -sf /dev/null usr/share/units/currency.units # points out of the folder
units() { usr/bin/units -f usr/share/units/definitions.units -t "$@" || true; }
[ -x /usr/bin/python3 ] || { echo "needs Debian's Python"; exit 77; }
export PYTHONPATH="$dir/usr/lib/python3/dist-packages"
cat >main.py <<'PY'
import pint

unit = pint.UnitRegistry()
print(unit("10 Gb/s"), "|", unit("100 Mb/s"), "|", unit("10 Gb/s") / unit("100 Mb/s"), "|", unit("10 Gbit/s"))
print(unit("10 Gbit/s") == unit("10 GHz"))
PY
same "mathjs, 10 Gb/s" "$(node -p 'require("mathjs").evaluate("10 Gb/s to bit/s").toString()')" "1e+10 bit / s"
same "GNU units, 10 Gb/s" "$(units '10 Gb/s')" "7.9577472 A / s"
same "GNU units, 10 Gbit/s in bit/s" "$(units '10 Gbit/s' bit/s)" "1e+10"
same "pint" "$(/usr/bin/python3 main.py)" \
  "10.0 gilbert / second | 100.0 megabarn / second | 0.1 gilbert / megabarn | 10.0 gigabit / second
True"
