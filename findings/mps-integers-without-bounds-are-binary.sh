#!/usr/bin/env bash
# Guess: an integer column of an MPS file that no BOUNDS line names is an integer of 0 or more, as a column that is not
#        integer is.
# Seen:  it is 0 or 1 to cbc and glpsol alike, without a word: of at most 7 circuits they use 1, and call it optimal.
#        Any bound that is written, PL for none above, makes it an integer again; between continuous columns nothing
#        needs to be said.
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
program() { # bound, or nothing
  cat <<MPS
NAME          CIRCUITS
ROWS
 N  COST
 L  PORTS
COLUMNS
    M1        'MARKER'                 'INTORG'
    X         COST      -1.0           PORTS     1.0
    M2        'MARKER'                 'INTEND'
RHS
    RHS       PORTS     7.5
${1:+BOUNDS
$1
}ENDATA
MPS
}
optimum() { # file
  usr/bin/cbc "$1" solve solution out >log
  usr/bin/glpsol --freemps "$1" --output out2 >log2
  echo "cbc $(head -1 out | awk '{print $1, $NF + 0}'), glpsol $(awk '/^Objective/ {print $4}' out2)"
}
program "" >none.mps
program " PL BND       X" >pl.mps
program " UP BND       X         9" >up.mps
sed /MARKER/d none.mps >continuous.mps
same "most circuits with 7.5 ports, negative" "$(optimum none.mps)" "cbc Optimal -1, glpsol -1"
same "with PL" "$(optimum pl.mps)" "cbc Optimal -7, glpsol -7"
same "with UP 9" "$(optimum up.mps)" "cbc Optimal -7, glpsol -7"
same "not integer" "$(optimum continuous.mps)" "cbc Optimal -7.5, glpsol -7.5"
