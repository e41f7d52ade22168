package main

import "github.com/spf13/cobra"

func newDoctor(a actions) *cobra.Command {
	var calibrate bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine allows, one line each, with the fix",
		Args:  noArgs,
	}
	c.Flags().BoolVar(&calibrate, "calibrate", false, "also measure how much traffic this machine carries")
	c.RunE = func(c *cobra.Command, _ []string) error { return a.doctor(c.Context(), calibrate, c.OutOrStdout()) }
	return c
}
