package topoeng

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lightloom/pathmap/tries"
)

// solvers are the exact ones of Debian: the arguments that solve a file, and what comes before the value in what is
// printed.
func solvers() map[string]func(model, answer string) (args []string, value *regexp.Regexp) {
	return map[string]func(string, string) ([]string, *regexp.Regexp){
		"cbc": func(model, answer string) ([]string, *regexp.Regexp) {
			return []string{model, "solve", "solution", answer}, regexp.MustCompile(`^Optimal - objective value (\S+)`)
		},
		"glpsol": func(model, answer string) ([]string, *regexp.Regexp) {
			return []string{"--lp", model, "-o", answer}, regexp.MustCompile(`INTEGER OPTIMAL\nObjective: +\S+ = (\S+)`)
		},
	}
}

// model writes the choice of switches as a program of integers: x_i_j_k is 1 where switch k joins pod i to pod j, and
// what is kept is to be most.
func model(want Counts, standing Topology) string {
	var keep, counts, ports, all bytes.Buffer
	n := len(want)
	for i := range want {
		for j, x := range want[i] {
			if x == 0 {
				continue
			}
			for k := range standing.Out {
				name := fmt.Sprintf("x_%d_%d_%d", i, j, k)
				fmt.Fprintf(&all, " %s\n", name)
				fmt.Fprintf(&counts, " + %s", name)
				if int(standing.Out[k][i]) == j {
					fmt.Fprintf(&keep, " + %s", name)
				}
			}
			fmt.Fprintf(&counts, " = %d\n", x)
		}
	}
	for k := range standing.Out {
		for i := range n {
			for _, side := range []func(j int) (int, int){func(j int) (int, int) { return i, j },
				func(j int) (int, int) { return j, i }} {
				var sum []string
				for j := range n {
					if a, b := side(j); want[a][b] > 0 {
						sum = append(sum, fmt.Sprintf("x_%d_%d_%d", a, b, k))
					}
				}
				if sum != nil {
					fmt.Fprintf(&ports, " %s <= 1\n", strings.Join(sum, " + "))
				}
			}
		}
	}
	if keep.Len() == 0 {
		keep.WriteString(" 0 nothing")
	}
	return fmt.Sprintf("Maximize\n kept:%s\nSubject To\n%s%sBinary\n%sEnd\n", &keep, &counts, &ports, &all)
}

// TestAssignAgainstSolver: on instances that an exact solver solves, all together, at most 5 % more circuits are
// disturbed than have to be.
func TestAssignAgainstSolver(t *testing.T) {
	for name, command := range solvers() {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), name) {
					t.Fatalf("LIGHTLOOM_MUST names %s: %v", name, err)
				}
				t.Skipf("no exact solver: %v", err)
			}
			ours, best := 0, 0
			for seed := range uint64(tries.Of(6, 100)) {
				rng := rand.New(rand.NewPCG(seed, 8))
				want, standing := changedDemand(t, rng, 5+rng.IntN(5), 5+rng.IntN(5))
				_, c, err := Assign(want, standing, 100, seed)
				if err != nil {
					t.Fatal(err)
				}
				fewest := circuitsOf(standing) - solve(t, name, command, model(want, standing))
				if int(c.Bound) > fewest || int(c.Value) < fewest {
					t.Fatalf("seed %d: %+v, and the solver says %d", seed, c, fewest)
				}
				ours, best = ours+int(c.Value), best+fewest
			}
			t.Logf("disturbed: %d, and %d at least", ours, best)
			if float64(ours) > 1.05*float64(best) {
				t.Errorf("%d circuits are disturbed, and %d would do", ours, best)
			}
		})
	}
}

// changedDemand makes a topology for a demand, which leaves hardly a port free, and counts for a demand of which a
// third has changed. It draws until both have circuits enough.
func changedDemand(t *testing.T, rng *rand.Rand, pods, switches int) (Counts, Topology) {
	t.Helper()
	share := min(0.9, 0.6*float64(switches)/float64(pods))
	for {
		first, second := randomDemand(rng, pods, share), randomDemand(rng, pods, share)
		for i := range second {
			for j := range second[i] {
				if rng.IntN(3) > 0 {
					second[i][j] = first[i][j]
				}
			}
		}
		counts, _, err := Divide(first, switches, nil)
		if err != nil {
			continue
		}
		standing, _, err := Assign(counts, NewTopology(pods, switches), 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if want, _, err := Divide(second, switches, counts); err == nil {
			return want, standing
		}
	}
}

func circuitsOf(t Topology) int {
	n := 0
	for _, row := range t.Counts() {
		for _, x := range row {
			n += x
		}
	}
	return n
}

// solve returns the value of a program that a solver has solved.
func solve(t *testing.T, name string, command func(string, string) ([]string, *regexp.Regexp), program string) int {
	t.Helper()
	folder := t.TempDir()
	file, answer := filepath.Join(folder, "model.lp"), filepath.Join(folder, "answer")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	args, value := command(file, answer)
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	text, err := os.ReadFile(answer)
	if err != nil {
		t.Fatal(err)
	}
	m := value.FindSubmatch(text)
	if m == nil {
		t.Fatalf("%s found no optimum: %s", name, text)
	}
	v, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return int(math.Round(math.Abs(v)))
}
