#!/usr/bin/env bash
# Guess: HiGHS reads a term that comes twice in an LP file as the sum of both, or refuses it, as cbc and glpsol do.
# Seen:  in a constraint it adds them up. In the objective the last one counts alone: of x + x + y, with x + y <= 4 and
#        y <= 1, the maximum is called 4, optimal; it is 8. The exact solver esolver finds 8 with a warning.
# With:  HiGHS of npm's highs 1.15.3, esolver of QSopt_ex 2.5.10.3, cbc 2.10.8, glpsol 5.0 (Debian bookworm).
set -euo pipefail
debs=(
  coinor-cbc=2.10.8+ds1-1 coinor-libcbc3=2.10.8+ds1-1 coinor-libcgl1=0.60.3+repack1-4 coinor-libclp1=1.17.6-3
  coinor-libcoinutils3v5=2.11.4+repack1-2 coinor-libosi1v5=0.108.6+repack1-2 libblas3=3.11.0-2 liblapack3=3.11.0-2
  libgfortran5 libquadmath0 glpk-utils=5.0-1 libglpk40=5.0-1 libamd2=1:5.12.0+dfsg-2 libcolamd2=1:5.12.0+dfsg-2
  libsuitesparseconfig5=1:5.12.0+dfsg-2 libltdl7 qsopt-ex=2.5.10.3-2 libqsopt-ex2=2.5.10.3-2
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
  const solution = highs.solve(require("fs").readFileSync(process.argv[2], "utf8"));
  const { x, y } = solution.Columns;
  console.log(solution.Status, solution.ObjectiveValue, "x", x.Primal, "y", y.Primal);
});
JS
printf 'Maximize\n f: x + x + y\nSubject To\n a: x + y <= 4\n b: y <= 1\nEnd\n' >objective.lp
printf 'Minimize\n f: x + y\nSubject To\n a: x + x + y >= 4\n b: y <= 1\nEnd\n' >constraint.lp
cat objective.lp
usr/bin/esolver -L -O exact objective.lp >log 2>&1
same "esolver, twice in the objective" "$(awk '/Value/ {print $3}' exact), $(grep -o 'Multiple.*' log)" \
  '8, Multiple coefficients for "x" in objective function.'
usr/bin/esolver -L -O exact constraint.lp >log 2>&1
same "esolver, twice in a constraint" "$(awk '/Value/ {print $3}' exact)" 2
same "cbc" "$(usr/bin/cbc objective.lp solve | grep -o '[0-9] duplicates in objective' | head -1)" \
  "1 duplicates in objective"
same "glpsol" "$(usr/bin/glpsol --lp objective.lp | grep -o "multiple use.*")" \
  "multiple use of variable 'x' not allowed"
same "HiGHS, twice in a constraint" "$(node highs.js constraint.lp)" "Optimal 2 x 2 y 0"
same "HiGHS, twice in the objective" "$(node highs.js objective.lp)" "Optimal 4 x 3 y 1"
