package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"lightloom/lab/experiment/kept"
)

// memory is a store of runs.
type memory struct {
	mu   sync.Mutex
	runs map[kept.Key]json.RawMessage
}

func (m *memory) Figures(k kept.Key) (json.RawMessage, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.runs[k]
	return b, ok
}

func (m *memory) Keep(k kept.Key, figures json.RawMessage, _ time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs[k] = figures
	return nil
}

// twoGrids is an experiment whose second grid has the settings that did best in the first.
func twoGrids(ctx context.Context, b *Bench) (out [][][]float64, err error) {
	run := func(_ context.Context, setting int, seed uint64) (float64, error) {
		if b.Kept != nil && b.Part == nil {
			return 0, errors.New("a run was made here")
		}
		return float64(setting) / float64(seed+3), nil
	}
	first, err := Grid(ctx, b, []int{5, 7, 9}, func(s int) string { return fmt.Sprint(s) }, run)
	if err != nil {
		return nil, err
	}
	var best []int
	for i, s := range []int{5, 7, 9} {
		if first[i][0] > 1.6 {
			best = append(best, 10*s)
		}
	}
	second, err := Grid(ctx, b, best, func(s int) string { return fmt.Sprint(s) }, run)
	return [][][]float64{first, second}, err
}

// TestElsewhere: an experiment whose runs others make, part by part, finds what it finds alone, and a part that asks
// for more than there is, or whose figures cannot be kept, says so.
func TestElsewhere(t *testing.T) {
	alone, err := twoGrids(t.Context(), &Bench{Seeds: 3, First: 1, On: OnFlowsim})
	if err != nil {
		t.Fatal(err)
	}
	store := &memory{runs: map[kept.Key]json.RawMessage{}}
	task := func(grid int, runs ...[2]int) error {
		_, err := twoGrids(t.Context(), &Bench{Seeds: 3, First: 1, On: OnFlowsim, Kept: kept.In(store),
			Part: &Part{grid, func(ctx context.Context, one func(context.Context, int, int) error) error {
				for _, r := range runs {
					if err := one(ctx, r[0], r[1]); err != nil {
						return err
					}
				}
				return nil
			}}})
		return err
	}
	var asked []string
	b := &Bench{Seeds: 3, First: 1, On: OnFlowsim, Kept: kept.In(store)}
	b.Elsewhere = func(_ context.Context, grid, settings, seeds int) error {
		asked = append(asked, fmt.Sprint(grid, settings, seeds))
		for s := range settings {
			for k := range seeds {
				if err := task(grid, [2]int{s, k}); !errors.Is(err, ErrPart) {
					return err
				}
			}
		}
		return nil
	}
	got, err := twoGrids(t.Context(), b)
	if err != nil || !reflect.DeepEqual(got, alone) {
		t.Errorf("%v, %v; alone %v", got, err, alone)
	}
	if want := []string{"0 3 3", "1 2 3"}; !reflect.DeepEqual(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
	if err := task(1, [2]int{2, 0}); err == nil || !strings.Contains(err.Error(), "the grid has 2 settings and 3 seeds") {
		t.Errorf("a run that is not there: %v", err)
	}
	if err := task(7); err != nil {
		t.Errorf("a grid that is not there: %v", err)
	}
	if _, err := kept.Run(kept.In(store), kept.Key{}, func() (struct{ hidden int }, error) {
		return struct{ hidden int }{1}, nil
	}); err == nil || !strings.Contains(err.Error(), "leave --on-engine away") {
		t.Errorf("figures that cannot be kept: %v", err)
	}
}
