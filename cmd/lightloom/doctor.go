package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/doctor"
	"lightloom/cmd/lightloom/internal/scenario"
	"lightloom/emulator/netns"
)

func newDoctor(a actions) *cobra.Command {
	var calibrate bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check what this machine supports, and how to fix what is missing",
		Args:  noArgs,
	}
	c.Flags().BoolVar(&calibrate, "calibrate", false, "also measure how much traffic this machine can carry, "+
		"and keep the result for --scale auto")
	c.RunE = func(c *cobra.Command, _ []string) error { return a.doctor(c.Context(), calibrate, c.OutOrStdout()) }
	return c
}

// examine prints what the machine allows. It stores the measured capacity for --scale auto.
func examine(ctx context.Context, calibrate bool, stdout io.Writer) error {
	if !calibrate || netns.Inside() { // from inside namespaces it answers its own parent
		return doctor.Print(ctx, calibrate, stdout)
	}
	if err := doctor.Print(ctx, false, stdout); err != nil {
		return err
	}
	carried, err := doctor.Calibrate(ctx)
	if err != nil {
		return err
	}
	if err := scenario.KeepCapacity(carried); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "carries  %v through three switches; kept for --scale auto\n", carried)
	return err
}
