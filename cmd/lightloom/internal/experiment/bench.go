package experiment

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Bench is what an experiment is run with.
type Bench struct {
	Seeds int       // runs of each setting, at least 1
	First uint64    // the first seed; the others follow it
	On    string    // OnFlowsim or OnNetns
	Data  string    // folder of the real traces; empty: experiments that need one say so
	Loads []float64 // times the published, of experiments that are curves over the offered load; nil: 1, 3, 10 and 30
	Quick bool      // a hundredth of the work, to try the command itself: its rows prove nothing and say so

	Progress func(done, of int) // may be nil; called from one goroutine at a time

	mu       sync.Mutex
	done, of int
}

func (b *Bench) loads() []float64 {
	if b.Loads != nil {
		return b.Loads
	}
	return []float64{1, 3, 10, 30}
}

// Seed returns the seed of run i.
func (b *Bench) Seed(i int) uint64 { return b.First + uint64(i) }

// Each calls do for the numbers below n, several at a time on the simulator and one after the other on packets, where a
// run that shares the processor with another measures the other. What do writes is its own: results go into slots by
// number, so that no order of ending shows. The first error ends the rest.
func (b *Bench) Each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	b.more(n)
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
			b.step()
			return nil
		})
	}
	return g.Wait()
}

// Grid runs every setting with every seed and returns figures by (setting, seed), in that order whatever ended first.
func Grid[S, F any](ctx context.Context, b *Bench, settings []S, name func(S) string, run func(context.Context, S, uint64) (F, error)) ([][]F, error) {
	out := make([][]F, len(settings))
	for i := range out {
		out[i] = make([]F, b.Seeds)
	}
	err := b.Each(ctx, len(settings)*b.Seeds, func(ctx context.Context, i int) error {
		s, k := settings[i/b.Seeds], i%b.Seeds
		f, err := run(ctx, s, b.Seed(k))
		if err != nil {
			return fmt.Errorf("run %s with seed %d: %w", name(s), b.Seed(k), err)
		}
		out[i/b.Seeds][k] = f
		return nil
	})
	return out, err
}

func (b *Bench) more(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of += n
}

func (b *Bench) step() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done++
	if b.Progress != nil {
		b.Progress(b.done, b.of)
	}
}
