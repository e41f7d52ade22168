package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/doctor"
	"lightloom/emulator/netns"
	"lightloom/lab/console"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
)

// doctorOptions are the options of the command doctor.
type doctorOptions struct {
	Calibrate bool
	Output    string
	Stdout    io.Writer
}

// diagnosis is what doctor prints as JSON.
type diagnosis struct {
	Findings []doctor.Finding      `json:"findings"`
	Carries  pathmap.BitsPerSecond `json:"carries_bits_per_second,omitempty"` // with --calibrate
	Kept     string                `json:"kept,omitempty"`                    // the file that --scale auto reads it from
}

func newDoctor(a actions) *cobra.Command {
	var opt doctorOptions
	c := &cobra.Command{
		Use:     "doctor",
		Short:   "Check what this machine supports, and how to fix what is missing",
		Example: "  lightloom doctor\n  lightloom doctor --calibrate",
		Args:    noArgs,
	}
	c.Flags().BoolVar(&opt.Calibrate, "calibrate", false,
		"also measure how much traffic this machine can carry, "+
			"and keep the result in "+scenario.CapacityFile()+" for --scale auto")
	outputFlag(c, &opt.Output, diagnosis{})
	c.RunE = func(c *cobra.Command, _ []string) error {
		opt.Stdout = c.OutOrStdout()
		return a.doctor(c.Context(), opt)
	}
	return c
}

// diagnose prints what the machine allows. It stores the measured capacity for --scale auto.
func diagnose(ctx context.Context, opt doctorOptions) error {
	if netns.Inside() { // it answers its own parent
		return doctor.Print(ctx, opt.Calibrate, opt.Stdout)
	}
	if opt.Output != console.OutputJSON {
		if err := doctor.Print(ctx, false, opt.Stdout); err != nil || !opt.Calibrate {
			return err
		}
	}
	var all diagnosis
	if opt.Calibrate {
		var err error
		if all.Carries, err = doctor.Calibrate(ctx); err != nil {
			return err
		}
		if err := scenario.KeepCapacity(all.Carries); err != nil {
			return err
		}
		all.Kept = scenario.CapacityFile()
	}
	if opt.Output == console.OutputJSON {
		all.Findings = doctor.Run(ctx)
		return console.WriteJSON(opt.Stdout, all)
	}
	_, err := fmt.Fprintf(opt.Stdout, "carries  %.1f Gb/s through three switches; kept in %s for --scale auto\n",
		float64(all.Carries)/1e9, all.Kept)
	return err
}
