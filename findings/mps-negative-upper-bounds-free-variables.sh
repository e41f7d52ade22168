#!/usr/bin/env bash
# Guess: a variable with an upper bound of -1 and none below has 0 for its lower bound, as all have: there is no
#        solution.
# Seen:  cbc takes its lower bound away, without a word, if the bound comes in an MPS file: the optimum is at x = -57.
#        From an LP file, and in glpsol from either, the lower bound is 0 and there is no solution.
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
cat >bound.mps <<'MPS'
NAME bound
ROWS
 N  cost
 G  r
COLUMNS
    x         cost              1.0   r                 1.0
    y         cost              1.0   r                 2.0
RHS
    RHS       r               -49.0
BOUNDS
 UP BND       x                -1.0
 UP BND       y                 4.0
ENDATA
MPS
cat >bound.lp <<'LP'
Minimize
 cost: x + y
Subject To
 r: x + 2 y >= -49
Bounds
 x <= -1
 y <= 4
End
LP
optimum() { # file, glpsol's option for its format
  usr/bin/cbc "$1" solve solution out >log
  usr/bin/glpsol "$2" "$1" --output out2 >log2
  echo "cbc $(awk 'NR == 1 {print $1} $2 == "x" || $3 == "x" {print "x =", $(NF - 1)}' out | xargs)," \
    "glpsol $(grep -o 'lb = 0, ub = -1; incorrect bounds' log2)"
}
same "of an MPS file" "$(optimum bound.mps --freemps)"   "cbc Optimal x = -57, glpsol lb = 0, ub = -1; incorrect bounds"
same "of an LP file" "$(optimum bound.lp --lp)" "cbc Infeasible x = 0, glpsol lb = 0, ub = -1; incorrect bounds"
