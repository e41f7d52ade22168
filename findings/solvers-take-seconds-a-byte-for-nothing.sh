#!/usr/bin/env bash
# Guess: an objective in other units (seconds for each byte in place of each gigabyte) has the same solution, and a
#        value that is 10^9 times smaller.
# Seen:  gains below 10^-7 are within the solvers' tolerance of reduced costs, and they stop where they are. At 10^-8, a
#        byte at 800 Mbit/s, glpsol sends nothing, cbc takes the worse way alone and HiGHS the better way alone: three
#        answers, each called optimal with exit 0. In gigabytes all agree.
# With:  cbc 2.10.8, glpsol 5.0 (Debian bookworm), HiGHS of npm's highs 1.15.3.
set -euo pipefail
debs=(
  coinor-cbc=2.10.8+ds1-1 coinor-libcbc3=2.10.8+ds1-1 coinor-libcgl1=0.60.3+repack1-4 coinor-libclp1=1.17.6-3
  coinor-libcoinutils3v5=2.11.4+repack1-2 coinor-libosi1v5=0.108.6+repack1-2 libblas3=3.11.0-2 liblapack3=3.11.0-2
  libgfortran5 libquadmath0 glpk-utils=5.0-1 libglpk40=5.0-1 libamd2=1:5.12.0+dfsg-2 libcolamd2=1:5.12.0+dfsg-2
  libsuitesparseconfig5=1:5.12.0+dfsg-2 libltdl7
)

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

npm install --no-audit --no-fund highs@1.15.3 >/dev/null 2>&1 || { echo "needs npm and its registry"; exit 77; }
LD_LIBRARY_PATH+=":$dir/usr/lib/$(uname -m)-linux-gnu/blas:$dir/usr/lib/$(uname -m)-linux-gnu/lapack"
cat >highs.js <<'JS'
require("highs")().then(highs => {
  const { Status, Columns: { x, y } } = highs.solve(require("fs").readFileSync(process.argv[2], "utf8"));
  console.log(Status, x.Primal, y.Primal);
});
JS
program() { # gain of x, of y
  printf 'Maximize\n f: %s x + %s y\nSubject To\n a: x + y <= 10\n b: y <= 4\nEnd\n' "$1" "$2"
}
solution() { # file
  usr/bin/cbc "$1" solve solution out >log
  usr/bin/glpsol --lp "$1" --output out2 >log2
  echo "cbc $(awk 'NR == 1 {print $1} NR > 1 {print $3 + 0}' out | xargs)," \
    "glpsol $(awk '/^Status/ {print $2} $2 ~ /^[xy]$/ {print $4}' out2 | xargs), HiGHS $(node highs.js "$1")"
}
program 10 20 >gigabytes.lp
program 0.00000001 0.00000002 >bytes.lp
cat bytes.lp
same "x and y by gigabyte" "$(solution gigabytes.lp)" "cbc Optimal 6 4, glpsol OPTIMAL 6 4, HiGHS Optimal 6 4"
same "x and y by byte" "$(solution bytes.lp)" "cbc Optimal 10 0, glpsol OPTIMAL 0 0, HiGHS Optimal 0 4"
