// Package config reads the file in which users keep their own defaults of flags, by command.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
	"lightloom/southbound/yamlfile"
)

// Off is the name of no file.
const Off = "off"

// Path returns where the file is, unless a flag says so: lightloom/config.yaml in the user's directory
// for such files.
func Path() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find config file: %w", err)
	}
	return filepath.Join(dir, "lightloom", "config.yaml"), nil
}

// Given is a flag that the file has set.
type Given struct{ Flag, Value string }

// Apply sets those flags of a command that the file names and the command line does not. The whole file
// is checked against all commands. A missing file is an error where the user has named it.
func Apply(c *cobra.Command, path string, named bool) ([]Given, error) {
	data, err := yamlfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read config file: %w", err)
	}
	all := map[string]map[string]any{}
	in, err := yamlfile.Decode(path, data, &all)
	if err != nil {
		return nil, fmt.Errorf("read config file: %w", err)
	}
	if err := check(c.Root(), in, all); err != nil {
		return nil, fmt.Errorf("read config file: %w", err)
	}
	command := name(c)
	var out []Given
	for _, flag := range slices.Sorted(maps.Keys(all[command])) {
		if c.Flags().Changed(flag) {
			continue
		}
		value, err := set(c.Flags(), flag, all[command][flag])
		if err != nil {
			return nil, fmt.Errorf("read config file: %w", in.At(yamlfile.Keys{command, flag}, err))
		}
		out = append(out, Given{flag, value})
	}
	return out, nil
}

// name is a command's, without the program's.
func name(c *cobra.Command) string {
	_, words, _ := strings.Cut(c.CommandPath(), " ")
	return words
}

// check refuses commands and flags that are not there.
func check(root *cobra.Command, in *yamlfile.File, all map[string]map[string]any) error {
	known := map[string]*cobra.Command{}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, s := range c.Commands() {
			if !s.Hidden {
				known[name(s)] = s
				visit(s)
			}
		}
	}
	visit(root)
	for _, command := range slices.Sorted(maps.Keys(all)) {
		c, ok := known[command]
		if !ok {
			return unknown(in, yamlfile.Keys{command}, "command", command, slices.Sorted(maps.Keys(known)))
		}
		var flags []string
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
		for _, flag := range slices.Sorted(maps.Keys(all[command])) {
			if c.LocalFlags().Lookup(flag) == nil || flag == "help" {
				return unknown(in, yamlfile.Keys{command, flag}, "flag of "+command, flag, flags)
			}
		}
	}
	return nil
}

// unknown says where a word stands, and which one is nearest.
func unknown(in *yamlfile.File, at yamlfile.Keys, what, word string, known []string) error {
	err := in.At(at, fmt.Errorf("%q is no %s", word, what))
	best, least := "", 1+len(word)/3
	for _, k := range known {
		if n := topo.Edits(word[:min(len(word), 64)], k); n <= least {
			best, least = k, n-1
		}
	}
	if best == "" {
		return hint.Wrap(err, "remove the line, or run with --config "+Off)
	}
	return hint.Wrap(err, "did you mean "+best+"? --config "+Off+" passes over the file")
}

// set gives a flag its value: one, or a list for flags that can come several times.
func set(flags *pflag.FlagSet, flag string, value any) (string, error) {
	all, isList := value.([]any)
	if !isList {
		all = []any{value}
	}
	if _, many := flags.Lookup(flag).Value.(pflag.SliceValue); isList && !many {
		return "", fmt.Errorf("--%s takes one value", flag)
	}
	var words []string
	for _, v := range all {
		switch v.(type) {
		case string, bool, int64, uint64, float64:
		default:
			return "", fmt.Errorf("--%s takes a word or a number", flag)
		}
		if err := flags.Set(flag, fmt.Sprint(v)); err != nil {
			return "", fmt.Errorf("--%s: %v is not taken", flag, v)
		}
		words = append(words, fmt.Sprint(v))
	}
	return strings.Join(words, ","), nil
}
