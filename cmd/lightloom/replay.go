package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"lightloom/lab/report"
	"lightloom/lab/scenario"
)

func newReplay(a actions, argv []string) *cobra.Command {
	f := newRunFlags(argv)
	c := &cobra.Command{
		Use:   "replay --trace FILE --fabric FABRIC",
		Short: "Replay a trace or workload over a fabric and compare policies",
		Long:  "Replays a trace over a fabric, once under each policy, and compares.\n\n" + policyHelp(),
		Example: "  lightloom replay --trace FB2010-1Hr-150-0.txt --coflows 100 --fabric hybrid:racks=16,hosts=2 --policy " +
			"random+ecmp,crosslayer+sunflow\n" +
			"  lightloom replay --trace synthetic --fabric fabric.yaml --on netns --scale auto\n" +
			"  lightloom replay --trace synthetic:jobs=200,bytes=1MB-10GB,width=2-16,rate=5/s,arrivals=poisson --fabric " +
			"hybrid:racks=16,hosts=2\n" +
			"  lightloom replay --workload storm:jobs=20,rate=10/min --fabric leafspine:racks=8,hosts=4,spines=2 --policy " +
			"random+ecmp,crosslayer",
		Args: noArgs,
	}
	f.common(c)
	f.reporting(c)
	f.jobs(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		opt, err := f.check(c)
		switch {
		case err != nil:
			return err
		case opt.Trace == "" && opt.Workload == "":
			return usage("add --trace FILE, --trace synthetic, or --workload storm",
				"replay: there is no trace to replay")
		case opt.Trace != "" && opt.Workload != "":
			return usage("leave one of them away", "replay: --trace and --workload both say what is replayed")
		case opt.Fabric == "":
			return usage("add --fabric hybrid:racks=16,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms",
				"replay: there is no fabric to replay on")
		}
		if err := runnable(opt.Fabric); err != nil {
			return err
		}
		switch own, keys := strings.CutPrefix(opt.Trace, scenario.Synthetic+":"); {
		case keys: // jobs of one's own sizes, widths and arrivals
			opt.Trace, opt.Workload = "", scenario.Synthetic+":"+own
		case opt.Trace == scenario.Synthetic:
			opt.Trace = ""
		case opt.Trace == "-":
			name, err := spool(c.InOrStdin())
			if err != nil {
				return err
			}
			defer os.Remove(name)
			opt.Trace, opt.Settings = name, spooled(opt.Settings, name)
		}
		return a.replay(c.Context(), opt)
	}
	return c
}

// spool copies a trace from the standard input to a file: a run reads it more than once, and its
// manifest needs its content. rerun takes it with --input.
func spool(in io.Reader) (string, error) {
	f, err := os.CreateTemp("", "stdin-*.txt")
	if err != nil {
		return "", fmt.Errorf("read trace: %w", err)
	}
	_, err = io.Copy(f, in)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("read trace: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return f.Name(), nil
}

// spooled names the file in the settings.
func spooled(all []report.Setting, name string) []report.Setting {
	for i := range all {
		if all[i].Flag == "trace" {
			all[i].Value = name
		}
	}
	return all
}
