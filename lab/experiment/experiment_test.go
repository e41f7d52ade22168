package experiment

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lightloom/lab/experiment/kept"
)

func TestListed(t *testing.T) {
	for _, e := range All() {
		if e.Name == "" || e.Doc == "" || e.Source == "" || e.Run == nil || len(e.On) == 0 {
			t.Errorf("experiment %q lacks a field", e.Name)
		}
		if both := len(e.On) == 2; both != (e.Only == "") {
			t.Errorf("experiment %q runs on %v, and says of it %q", e.Name, e.On, e.Only)
		}
		if e.Seeds < 10 && e.Name != "coscheduler-figure-4" { // which computes what is printed, and draws nothing
			t.Errorf("experiment %q asks for %d seeds: at least 10 on packets, 20 on the simulator",
				e.Name, e.Seeds)
		}
	}
	if _, err := Find("factoriel"); err == nil || !strings.Contains(err.Error(), "factorial") {
		t.Errorf("an unknown name says %v, and should list the known ones", err)
	}
}

func TestGrid(t *testing.T) {
	b := &Bench{Seeds: 3, First: 10, On: OnFlowsim}
	got, err := Grid(t.Context(), b, []float64{1, 2}, func(float64) string { return "x" },
		func(_ context.Context, s float64, seed uint64) (float64, error) { return 100*s + float64(seed), nil })
	if err != nil || got[0][0] != 110 || got[1][2] != 212 {
		t.Errorf("%v, %v", got, err)
	}
	broken := errors.New("broken")
	_, err = Grid(t.Context(), b, []float64{1}, func(float64) string { return "one" },
		func(context.Context, float64, uint64) (float64, error) { return 0, broken })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "one") {
		t.Errorf("error %v names neither cause nor setting", err)
	}
}

// TestGridInterrupted: the first seeds that are through under all settings are kept, and the
// next start makes the rest, with the same figures.
func TestGridInterrupted(t *testing.T) {
	for whole := range 5 {
		path := filepath.Join(t.TempDir(), "runs")
		runs, err := kept.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		b := &Bench{Seeds: 4, First: 11, On: OnFlowsim, Kept: runs}
		var through sync.WaitGroup
		through.Add(2 * whole)
		got, err := Grid(ctx, b, []float64{1, 2}, func(float64) string { return "x" },
			func(ctx context.Context, s float64, seed uint64) (float64, error) {
				if seed < 11+uint64(whole) {
					through.Done()
					return s * float64(seed), nil
				}
				through.Wait()
				cancel()
				return 0, ctx.Err()
			})
		cancel()
		switch said := strings.Join(b.Interrupted(), " "); {
		case whole == 0:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("nothing is through: %v, %v", got, err)
			}
		case err != nil || len(got[0]) != whole || len(got[1]) != whole || got[1][0] != 22:
			t.Errorf("%d seeds are through: %v, %v", whole, got, err)
		case whole < 4 && !strings.Contains(said, fmt.Sprintf("%d of 4 seeds; the same command goes on", whole)),
			whole == 4 && said != "":
			t.Errorf("%d seeds are through, and it says %q", whole, said)
		}
		if err := runs.Close(false); err != nil {
			t.Fatal(err)
		}
		if runs, err = kept.Open(path); err != nil {
			t.Fatal(err)
		}
		again, made := &Bench{Seeds: 4, First: 11, On: OnFlowsim, Kept: runs}, atomic.Int32{}
		got, err = Grid(t.Context(), again, []float64{1, 2}, func(float64) string { return "x" },
			func(_ context.Context, s float64, seed uint64) (float64, error) {
				made.Add(1)
				return s * float64(seed), nil
			})
		want := [][]float64{{11, 12, 13, 14}, {22, 24, 26, 28}}
		if err := errors.Join(err, runs.Close(true)); err != nil || !reflect.DeepEqual(got, want) ||
			int(made.Load()) != 8-2*whole || runs.Recalled() != 2*whole {
			t.Errorf("%d seeds were through: %v after %d runs more, %v", whole, got, made.Load(), err)
		}
	}
}

// TestGridOnPackets: whatever the order of runs, each figure is in its place; failures are reported,
// and their seeds left out.
func TestGridOnPackets(t *testing.T) {
	b := &Bench{Seeds: 4, First: 10, On: OnNetns}
	var order []float64
	grid := func(fails float64) ([][]float64, error) {
		return Grid(t.Context(), b, []float64{1, 2}, func(s float64) string {
			return "setting " + strconv.Itoa(int(s))
		}, func(_ context.Context, s float64, seed uint64) (float64, error) {
			order = append(order, 100*s+float64(seed))
			if order[len(order)-1] == fails || fails < 0 {
				return 0, errors.New("no packets")
			}
			return order[len(order)-1], nil
		})
	}
	got, err := grid(0)
	if want := [][]float64{{110, 111, 112, 113}, {210, 211, 212, 213}}; err != nil ||
		!reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if len(order) != 9 || order[0] != order[1] || slices.IsSorted(order[1:]) || len(b.failed) != 0 {
		t.Errorf("ran %v", order)
	}
	got, err = grid(212)
	if want := [][]float64{{110, 111, 113}, {210, 211, 213}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("one fails: %v, %v", got, err)
	}
	if all := strings.Join(b.failures(), "\n"); !strings.Contains(all,
		"run setting 2 with seed 12: no packets") {
		t.Errorf("told: %s", all)
	}
	if _, err = grid(-1); err == nil || !strings.Contains(err.Error(), "no packets") {
		t.Errorf("all fail: %v", err)
	}
}

// TestCompare: runs without anything to compare with are left out.
func TestCompare(t *testing.T) {
	got := Compare([]float64{12, 7, 5}, []float64{10, 0, 10}, Above)
	if len(got) != 2 || math.Abs(got[0]-20) > 1e-9 || got[1] != -50 {
		t.Errorf("%v", got)
	}
}

// TestPage: the three forms of one page hold the same rows.
func TestPage(t *testing.T) {
	r := &Result{Rows: []Row{
		Row{Figure: "Figure 1", Setting: "a, b", Metric: "m", Unit: "s",
			Paper: Number(1)}.Measure([]float64{1, 2}, 1).
			Judge(0, "x"),
		{Figure: "Figure 2", Verdict: NotReproducible, Note: "a picture only"},
	}}
	p := NewPage(Experiment{Name: "e", Source: "s"}, &Bench{Seeds: 2, First: 1}, r)
	var j, c, table bytes.Buffer
	for _, err := range []error{p.JSON(&j), p.CSV(&c), p.Table(&table)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var back struct {
		Rows []map[string]any `json:"rows"`
	}
	if err := json.Unmarshal(j.Bytes(), &back); err != nil || len(back.Rows) != 2 {
		t.Fatalf("%v, %v", back, err)
	}
	for _, key := range []string{"figure", "setting", "metric", "unit", "paper", "measured", "low",
		"high", "n", "verdict",
		"note"} {
		if _, ok := back.Rows[1][key]; !ok {
			t.Errorf("a row has no %q", key)
		}
	}
	if back.Rows[1]["paper"] != nil {
		t.Errorf("a figure that does not exist is %v, want null", back.Rows[1]["paper"])
	}
	lines, err := csv.NewReader(&c).ReadAll()
	if err != nil || len(lines) != 3 || lines[1][1] != "a, b" {
		t.Errorf("csv: %q, %v", lines, err)
	}
	if !strings.HasPrefix(table.String(), "e: 1 too weak, 1 not reproducible (s)\n") {
		t.Errorf("table:\n%s", table.String())
	}
}

// TestPageIsOneScreen: of many rows those that differ are shown, then the first ones; at most five lines follow.
func TestPageIsOneScreen(t *testing.T) {
	r := &Result{Assumptions: []string{"one", "two"}, Notes: []string{"three", "four", "five"}}
	for i := range 100 {
		row := Row{Figure: fmt.Sprint("Figure ", i), Verdict: Reproduced}
		if i >= 90 {
			row.Verdict = Differs
		}
		r.Rows = append(r.Rows, row)
	}
	var b bytes.Buffer
	if err := NewPage(Experiment{Name: "e", Source: "s"}, &Bench{Seeds: 2, First: 1},
		r).Table(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	_, after, _ := strings.Cut(text, "╰")
	for _, want := range []string{"e: 90 reproduced, 10 differs (s)", "Figure 0 ", "Figure 13 ", "Figure 90 ",
		"Figure 99 ",
		"assumed: one\n", "note: three\n", "-o json has all: 76 further rows and 3 further remarks\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(text, "Figure 14 ") || strings.Contains(after, "two") ||
		strings.Count(after, "\n") > 6 {
		t.Errorf("it is\n%s", text)
	}
}
