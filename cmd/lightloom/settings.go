package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lightloom/lab/report"
)

// What a flag is to a manifest beside a setting.
const (
	// inputMark is of flags that can name files to read: a manifest holds a hash of what is in them.
	inputMark = "lightloom-input"
	// placeMark is of flags that say where the testbed is, and where and how results are shown. They do
	// not change results, so no manifest holds them.
	placeMark = "lightloom-place"
)

// mark says what flags of a command are to a manifest.
func mark(c *cobra.Command, as string, flags ...string) {
	for _, name := range flags {
		if err := c.Flags().SetAnnotation(name, as, nil); err != nil {
			panic("cmd: " + err.Error())
		}
	}
}

func marked(f *pflag.Flag, as string) bool {
	_, is := f.Annotations[as]
	return is
}

// settings are all flags of a command with their values, given or not, by name.
func settings(c *cobra.Command) []report.Setting {
	var out []report.Setting
	c.Flags().VisitAll(func(f *pflag.Flag) { // by name
		if marked(f, placeMark) || slices.Contains([]string{"help", "config"}, f.Name) { // those of every command
			return
		}
		if f.Name == readsFlag && f.Value.String() == f.DefValue {
			return // reports without blocks are those of versions that did not have it
		}
		input := marked(f, inputMark)
		if many, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range many.GetSlice() {
				out = append(out, report.Setting{Flag: f.Name, Value: v, Input: input})
			}
			return
		}
		out = append(out, report.Setting{Flag: f.Name, Value: f.Value.String(), Input: input})
	})
	return out
}
