package main

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lightloom/lab/replay"
)

// maxRepeat bounds the runs of one report.
const maxRepeat = 10_000

// repeatFlag says how many runs are made, everywhere.
const repeatFlag = "repeat"

// alsoSeeds has a command take --seeds for --repeat, which it was called in experiments.
func alsoSeeds(c *cobra.Command) {
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "seeds" {
			name = repeatFlag
		}
		return pflag.NormalizedName(name)
	})
}

// checkRepeat reads the flags that choose how often a run is made and what of it counts. Commands
// without them pass.
func (f *runFlags) checkRepeat(c *cobra.Command, o *replay.Options) error {
	if c.Flags().Lookup(repeatFlag) == nil {
		return nil
	}
	if o.Repeat < 1 || o.Repeat > maxRepeat {
		return usage("write --repeat 20", "%s: --repeat %d is not within 1 to %d", c.Name(), o.Repeat, maxRepeat)
	}
	const hint = "write --warmup 30, which is seconds, or --warmup 500ms"
	var err error
	if seconds, e := strconv.ParseFloat(f.warmup, 64); e == nil && seconds >= 0 && seconds <= 1e9 {
		o.Warmup = time.Duration(seconds * float64(time.Second))
	} else if o.Warmup, err = time.ParseDuration(f.warmup); err != nil {
		return usage(hint, "%s: --warmup %q is no time", c.Name(), f.warmup)
	}
	if o.Warmup < 0 {
		return usage(hint, "%s: --warmup %q is below zero", c.Name(), f.warmup)
	}
	return nil
}
