package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lightloom/controller/policy"
	"lightloom/controller/policy/program"
	"lightloom/controller/policy/program/programtest"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
)

// programCommand is a policy's program that routes as ecmp does; at its end it writes what it was told
// to a file. TestMain lets the test binary be the program that a policy of these tests is.
func TestMain(m *testing.M) {
	labtest.Main(m, 4, map[string]func(context.Context, []string) error{programCommand: ecmpProgram})
}

const programCommand = "test-program"

func ecmpProgram(_ context.Context, args []string) error {
	told, err := programtest.ECMP(os.Stdin, os.Stdout, func() error {
		return json.NewEncoder(os.Stdout).Encode(program.Echo{Version: program.Version})
	}, func(*program.Answer) {})
	if err != nil {
		return err
	}
	b, err := json.Marshal(told)
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], b, 0o600)
}

// execECMP routes by a program that echoes ecmp.
func execECMP(told string) policy.Overrides {
	return policy.Overrides{Route: "exec:/proc/self/exe " + programCommand + " " + told}
}

// TestProgramSameReport: on the demo's fabric, a program that routes as ecmp does makes the report of
// ecmp, to the byte, and is told every row and the paths of every pair of racks once.
func TestProgramSameReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	told := filepath.Join(dir, "told")
	const name = "random+ecmp+sunflow"
	write := func(sub string, parts policy.Overrides) {
		t.Helper()
		err := Replay(t.Context(), Options{Options: scenario.Options{Demo: true, Seed: 1, Scale: 1,
			Speedup: 1, Replicas: 3,
			On: scenario.OnFlowsim, Policies: []string{name}, Parts: parts},
			Console: Console{Stdout: io.Discard, Stderr: io.Discard, ReportDir: filepath.Join(dir, sub)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	write("ecmp", policy.Overrides{})
	write("exec", execECMP(told))
	for _, file := range []string{"report.json", "report.html", "policies.csv", "coflows.csv", "circuits.csv",
		"links.csv"} {
		want, err := os.ReadFile(filepath.Join(dir, "ecmp", file))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "exec", file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs", file)
		}
	}
	got := readTold(t, told)
	if racks := labtest.Demo(t, 1, name).Fabric.Racks; got.Rows == 0 || got.Again > 0 ||
		got.Pairs > racks*(racks-1) {
		t.Errorf("told %+v on %d racks", got, racks)
	}
}

func readTold(t testing.TB, file string) (told programtest.Told) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &told); err != nil {
		t.Fatal(err)
	}
	return told
}

// BenchmarkProgram makes runs on the demo's fabric, and says what a decision costs more where a program
// routes, its start and end included. Not every decision has a question.
func BenchmarkProgram(b *testing.B) {
	file := filepath.Join(b.TempDir(), "told")
	took, decisions := map[bool]time.Duration{}, int64(0)
	for b.Loop() {
		for _, asked := range []bool{false, true} {
			s := labtest.Demo(b, 1, "random+ecmp")
			if asked {
				s.Options.Parts = execECMP(file)
			}
			began := time.Now()
			o, err := labtest.Simulate(b.Context(), s, s.Rows[0], nil)
			if err != nil {
				b.Fatal(err)
			}
			took[asked] += time.Since(began)
			decisions = o.Decisions
		}
	}
	more := float64((took[true] - took[false]).Microseconds()) / float64(b.N)
	b.ReportMetric(float64(decisions), "decisions")
	b.ReportMetric(float64(readTold(b, file).Questions), "questions")
	b.ReportMetric(more/float64(decisions), "more-µs/decision")
}
