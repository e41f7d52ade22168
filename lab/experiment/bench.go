package experiment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lightloom/lab/experiment/kept"
)

// Bench holds the settings of an experiment's runs.
type Bench struct {
	Seeds int       // runs of each setting, at least 1
	First uint64    // the first seed; the others follow it
	On    string    // OnFlowsim or OnNetns
	Data  string    // folder of the real traces; empty: experiments that need one say so
	Loads []float64 // times the published, of experiments that are curves over the offered load; nil: 1, 3, 10 and 30
	Quick bool      // a hundredth of the work, to try the command itself: its rows prove nothing and say so

	Progress func(done, of int) // may be nil; called from one goroutine at a time
	Kept     *kept.Runs         // of an earlier start of the same experiment; nil: each run is made

	// Elsewhere has the runs of a grid made by other processes, which keep them in Kept; nil: they are made here.
	Elsewhere func(ctx context.Context, grid, settings, seeds int) error
	Part      *Part // what such a process makes; nil: all

	mu       sync.Mutex
	done, of int
	failed   []string // runs on packets
	cuts     []string // what an interruption has left out
}

// Part are the runs of one grid that a process makes. Those of earlier grids are kept.
type Part struct {
	Grid int
	// Make calls one for each of its runs.
	Make func(ctx context.Context, one func(ctx context.Context, setting, seed int) error) error
}

// ErrPart is the error of an experiment whose part has been made: nothing else of it is.
var ErrPart = errors.New("this part of the experiment is made")

// Interrupted says what an interruption has left out; nil where there was none.
func (b *Bench) Interrupted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.cuts)
}

func (b *Bench) loads() []float64 {
	if b.Loads != nil {
		return b.Loads
	}
	return []float64{1, 3, 10, 30}
}

// Seed returns the seed of run i.
func (b *Bench) Seed(i int) uint64 { return b.First + uint64(i) }

// Each calls do for the numbers below n: several at a time on the simulator, one after the other on
// packets, where runs that share the processor disturb each other. do must write only to its own slot,
// so that the order of ending does not show. The first error ends the rest.
func (b *Bench) Each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	b.More(n)
	g, ctx := errgroup.WithContext(ctx)
	if b.On == OnNetns {
		g.SetLimit(1)
	} else {
		g.SetLimit(runtime.GOMAXPROCS(0))
	}
	for i := range n {
		g.Go(func() error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := do(ctx, i); err != nil {
				return err
			}
			b.Step()
			return nil
		})
	}
	return g.Wait()
}

// Grid runs every setting with every seed and returns figures by (setting, seed), whatever the order of
// the runs.
//
// On packets runs come in random order, so that no setting gets the machine's better hour; a first run
// warms the machine and is discarded. There a run can fail: Grid then leaves its seed out under all
// settings, since differences are paired, and b reports it. If all seeds are left out, Grid returns an
// error.
func Grid[S, F any](ctx context.Context, b *Bench, settings []S, name func(S) string,
	run func(context.Context, S, uint64) (F, error)) ([][]F, error) {
	out := make([][]F, len(settings))
	for i := range out {
		out[i] = make([]F, b.Seeds)
	}
	order, grid := b.order(len(settings)*b.Seeds), b.Kept.Grid()
	if b.Part != nil && b.Part.Grid == grid {
		return nil, part(ctx, b, settings, name, run)
	}
	if b.Elsewhere != nil {
		if err := b.Elsewhere(ctx, grid, len(settings), b.Seeds); err != nil {
			return nil, err
		}
	}
	lost, warm := make([]error, b.Seeds), len(order)-len(settings)*b.Seeds
	made := make([]atomic.Int32, b.Seeds) // runs that have ended, by seed
	err := b.Each(ctx, len(order), func(ctx context.Context, i int) error {
		s, k := settings[order[i]/b.Seeds], order[i]%b.Seeds
		if i < warm {
			_, _ = run(ctx, s, b.Seed(k)) // should it fail, so will the run that counts
			return ctx.Err()
		}
		f, err := kept.Run(b.Kept, kept.Key{Grid: grid, Setting: order[i] / b.Seeds, Seed: b.Seed(k)},
			func() (F, error) { return run(ctx, s, b.Seed(k)) })
		if err == nil {
			made[k].Add(1)
		}
		if err != nil {
			err = fmt.Errorf("run %s with seed %d: %w", name(s), b.Seed(k), err)
			if b.On != OnNetns || ctx.Err() != nil {
				return err
			}
			lost[k] = err
			b.fail(err)
			return nil
		}
		out[order[i]/b.Seeds][k] = f
		return nil
	})
	if err != nil && ctx.Err() != nil { // Ctrl-C keeps the first seeds, those that are through under all settings
		through := 0
		for through < b.Seeds && (lost[through] != nil || int(made[through].Load()) == len(settings)) {
			through++
		}
		for k := through; k < b.Seeds; k++ {
			lost[k] = err
		}
		if b.cut(through); through > 0 {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	return paired(out, lost)
}

// part makes the runs of b's part.
func part[S, F any](ctx context.Context, b *Bench, settings []S, name func(S) string,
	run func(context.Context, S, uint64) (F, error)) error {
	err := b.Part.Make(ctx, func(ctx context.Context, setting, seed int) error {
		if setting < 0 || setting >= len(settings) || seed < 0 || seed >= b.Seeds {
			return fmt.Errorf("run %d.%d: the grid has %d settings and %d seeds", setting, seed, len(settings), b.Seeds)
		}
		_, err := kept.Run(b.Kept, kept.Key{Grid: b.Part.Grid, Setting: setting, Seed: b.Seed(seed)},
			func() (F, error) { return run(ctx, settings[setting], b.Seed(seed)) })
		if err != nil {
			err = fmt.Errorf("run %s with seed %d: %w", name(settings[setting]), b.Seed(seed), err)
		}
		return err
	})
	if err != nil {
		return err
	}
	return ErrPart
}

// cut notes that the runs were interrupted after the first seeds.
func (b *Bench) cut(through int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cuts = append(b.cuts, fmt.Sprintf("interrupted: these rows are of %d of %d seeds; the same command goes on", through,
		b.Seeds))
}

// order is the order in which Grid makes n runs: on the simulator seed by seed, so that an interruption
// leaves whole seeds.
func (b *Bench) order(n int) []int {
	if b.On == OnNetns {
		order := rand.New(rand.NewPCG(b.First, 0x6f72646572)).Perm(n)
		if !b.Quick && n > 0 {
			order = append([]int{order[0]}, order...) // the first is made again
		}
		return order
	}
	order := make([]int, 0, n)
	for k := range b.Seeds {
		for s := range n / b.Seeds {
			order = append(order, s*b.Seeds+k)
		}
	}
	return order
}

// paired leaves out the seeds that failed under some setting.
func paired[F any](all [][]F, lost []error) ([][]F, error) {
	for i := range all {
		var kept []F
		for k, f := range all[i] {
			if lost[k] == nil {
				kept = append(kept, f)
			}
		}
		if len(kept) == 0 && len(lost) > 0 {
			return nil, fmt.Errorf("no seed went through under all settings, the first: %w", lost[0])
		}
		all[i] = kept
	}
	return all, nil
}

// fail notes a run on packets that failed.
func (b *Bench) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = append(b.failed, err.Error())
}

// failures reports how many runs on packets failed, and how; nil for an experiment without packets.
func (b *Bench) failures() []string {
	if b.On != OnNetns {
		return nil
	}
	return append([]string{fmt.Sprintf("%d runs on packets failed; the seed of one is left out under all settings",
		len(b.failed))}, b.failed...)
}

// More says that n more runs are to come.
func (b *Bench) More(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of += n
}

// Step says that a run is over.
func (b *Bench) Step() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done++
	if b.Progress != nil {
		b.Progress(b.done, b.of)
	}
}
