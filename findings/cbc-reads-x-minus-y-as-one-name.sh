#!/usr/bin/env bash
# Guess: solvers that read the LP format give the same optimum whether or not there are blanks around + and -.
# Seen:  cbc splits at blanks only: "x-y" is one variable, and as its name is no good, all columns are called x0, x1 …
#        It solves that other program: optimum 3 where 2 is right, exit 0. glpsol reads both alike.
# With:  cbc 2.10.8, glpsol 5.0 (Debian bookworm).
set -euo pipefail
debs=(
  coinor-cbc=2.10.8+ds1-1 coinor-libcbc3=2.10.8+ds1-1 coinor-libcgl1=0.60.3+repack1-4
  coinor-libclp1=1.17.6-3 coinor-libcoinutils3v5=2.11.4+repack1-2 coinor-libosi1v5=0.108.6+repack1-2
  libblas3=3.11.0-2 liblapack3=3.11.0-2 libgfortran5 libquadmath0 glpk-utils=5.0-1 libglpk40=5.0-1
  libamd2=1:5.12.0+dfsg-2 libcolamd2=1:5.12.0+dfsg-2 libsuitesparseconfig5=1:5.12.0+dfsg-2 libltdl7
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

LD_LIBRARY_PATH+=":$dir/usr/lib/$(uname -m)-linux-gnu/blas:$dir/usr/lib/$(uname -m)-linux-gnu/lapack"
printf 'Maximize\n f: x - y\nSubject To\n a: x <= 4\n b: x - y <= 3\n c: y >= 2\nEnd\n' >blanks.lp
sed 's/ - /-/' blanks.lp >none.lp
cat none.lp

optimum() {
  usr/bin/cbc "$1" solve solution out >log
  usr/bin/glpsol --lp "$1" --output out2 >log2
  echo "cbc $(head -1 out | awk '{print $NF + 0}') in $(($(wc -l <out) - 1)) variables," \
    "glpsol $(awk '/^Objective/ {print $4}' out2)"
}
same "with blanks" "$(optimum blanks.lp)" "cbc 2 in 2 variables, glpsol 2"
same "without" "$(optimum none.lp)" "cbc 3 in 3 variables, glpsol 2"
