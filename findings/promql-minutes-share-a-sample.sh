#!/usr/bin/env bash
# Guess: x[1m] of a series with a sample each 15 s holds four samples, and the sums of two minutes are that of both.
# Seen:  a sample at the very beginning counts as well: where queries fall on the samples' times, as in unit tests and
#        replayed traces, a minute holds five. Over two minutes sum_over_time is 90, minute by minute 50 and 50. One
#        second later each minute holds four.
# With:  Prometheus 2.42.0 (Debian bookworm).
set -euo pipefail
debs=(prometheus=2.42.0+ds-5+deb12u1)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
{
  apt-get -qq -o APT::Sandbox::User=root download "${debs[@]}" &&
    for deb in *.deb; do dpkg -x "$deb" .; done
} || { echo "needs packages of Debian bookworm, and apt-get update before"; exit 77; }
export LD_LIBRARY_PATH="$dir/usr/lib/x86_64-linux-gnu"

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

cat >test.yml <<'YAML'
evaluation_interval: 15s
tests:
  - interval: 15s
    input_series: [{series: bytes, values: 10+0x20}]
    promql_expr_test:
      - {expr: "count_over_time(bytes[1m])", eval_time: 2m}
      - {expr: "sum_over_time(bytes[1m] offset 1m)", eval_time: 2m}
      - {expr: "sum_over_time(bytes[1m])", eval_time: 2m}
      - {expr: "sum_over_time(bytes[2m])", eval_time: 2m}
      - {expr: "count_over_time(bytes[1m])", eval_time: 121s}
      - {expr: "sum_over_time(bytes[2m])", eval_time: 121s}
YAML
same "samples of a minute, first minute, second, both; a second later a minute and both" \
  "$(usr/bin/promtool test rules test.yml 2>&1 | sed -n 's/.*got: *{} //p' | paste -sd' ')" \
  "5E+00 5E+01 5E+01 9E+01 4E+00 8E+01"
