#!/usr/bin/env bash
# Guess: solvers that take an MPS file with OBJSENSE MAX, the section that states the direction in the file, maximize.
# Seen:  esolver and lp_solve do. cbc minimizes and calls it optimal: a line of its log says that it ignores that,
#        the file of its solution does not. With MAX on OBJSENSE's own line lp_solve minimizes as well, without a word.
#        glpsol refuses both.
# With:  cbc 2.10.8, glpsol 5.0, lp_solve 5.5.2.5, esolver of QSopt_ex 2.5.10.3 (Debian bookworm).
set -euo pipefail
debs=(
  coinor-cbc=2.10.8+ds1-1 coinor-libcbc3=2.10.8+ds1-1 coinor-libcgl1=0.60.3+repack1-4 coinor-libclp1=1.17.6-3
  coinor-libcoinutils3v5=2.11.4+repack1-2 coinor-libosi1v5=0.108.6+repack1-2 libblas3=3.11.0-2 liblapack3=3.11.0-2
  libgfortran5 libquadmath0 glpk-utils=5.0-1 libglpk40=5.0-1 libamd2=1:5.12.0+dfsg-2 libcolamd2=1:5.12.0+dfsg-2
  libsuitesparseconfig5=1:5.12.0+dfsg-2 libltdl7 lp-solve=5.5.2.5-2 qsopt-ex=2.5.10.3-2 libqsopt-ex2=2.5.10.3-2
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
LD_LIBRARY_PATH+=":$dir/usr/lib/lp_solve"
program() { # direction
  cat <<MPS
NAME          LINK
$1
ROWS
 N  RATE
 L  CAPACITY
COLUMNS
    X         RATE      1.0            CAPACITY  1.0
RHS
    RHS       CAPACITY  5.0
ENDATA
MPS
}
program $'OBJSENSE\n    MAX' >section.mps
program "OBJSENSE MAX" >line.mps
cat section.mps
usr/bin/esolver -O exact section.mps >log 2>&1
same "esolver" "$(awk '/Value/ {print $3}' exact)" 5
lp() { usr/bin/lp_solve -fmps "$1" -S3 | awk '/^Value/ {print $NF + 0}'; }
same "lp_solve" "$(lp section.mps)" 5
same "lp_solve, MAX on the line" "$(lp line.mps)" 0
usr/bin/cbc section.mps solve solution out >log
same "cbc's log" "$(grep OBJSENSE log | tail -1)" "MAX found after OBJSENSE - Coin ignores"
same "cbc" "$(head -1 out)" "Optimal - objective value 0.00000000"
for file in section.mps line.mps; do
  same "glpsol, $file" "$(usr/bin/glpsol --freemps $file | grep -o 'file processing error\|invalid.*' | head -1)" \
    "invalid indicator record"
done
