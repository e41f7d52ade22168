#!/usr/bin/env bash
# Guess: a constant in the objective gives the same optimum in every solver that reads the file.
# Seen:  cbc leaves it out of an LP file in silence: x + 10 with x = 3 has optimum 3 (glpsol refuses the file). In MPS,
#        where it is the objective's right-hand side, cbc subtracts the 10 that glpsol adds: -7 and 13 of one point.
#        A column that is fixed at 10 is 13 to both.
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
cat >constant.mps <<'MPS'
NAME          CONSTANT
ROWS
 N  COST
 G  LEAST
COLUMNS
    X         COST      1.0            LEAST     1.0
RHS
    RHS       COST      10.0           LEAST     3.0
ENDATA
MPS
printf 'Minimize\n f: x + 10\nSubject To\n a: x >= 3\nEnd\n' >constant.lp
printf 'Minimize\n f: x + ten\nSubject To\n a: x >= 3\nBounds\n ten = 10\nEnd\n' >fixed.lp
optimum() { # file, glpsol's option for its format
  usr/bin/cbc "$1" solve solution out >log
  usr/bin/glpsol "$2" "$1" --output out2 >log2 || grep "^$1:" log2 >out2
  echo "cbc $(head -1 out | awk '{print $1, $NF + 0}')," \
    "glpsol $(awk '/^Objective/ {print $4} /missing/' out2)"
}
same "constant of an MPS file" "$(optimum constant.mps --freemps)" "cbc Optimal -7, glpsol 13"
same "constant of an LP file" "$(optimum constant.lp --lp)" \
  "cbc Optimal 3, glpsol constant.lp:3: missing variable name"
same "column fixed at 10" "$(optimum fixed.lp --lp)" "cbc Optimal 13, glpsol 13"
