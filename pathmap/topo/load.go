package topo

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"lightloom/pathmap"
)

// Generators lists what Load builds from a line of text, beside the fabrics of ParseSpec. Keys left out have the values
// shown; hosts=0 is as many as fit for a fat-tree, none for a Jellyfish, whose hosts are those of each switch.
func Generators() []string {
	return []string{"fattree:k=4,hosts=0,rate=1Gbps", "jellyfish:switches=20,degree=4,hosts=1,rate=1Gbps,seed=1"}
}

// Load returns the topology that a user names on a command line: the path of a file, whose name tells its format, or a
// line of text, as in "hybrid:racks=8", "fattree:k=16" or "jellyfish:switches=200,degree=10".
func Load(arg string) (*pathmap.Topology, error) {
	if f, err := FormatOf(arg); err == nil {
		return f.ReadFile(arg)
	} else if _, missing := os.Stat(arg); missing == nil {
		return nil, err
	}
	kind, rest, _ := strings.Cut(arg, ":")
	for _, line := range Generators() {
		if name, keys, _ := strings.Cut(line, ":"); name == kind {
			return generate(arg, kind, keys, rest)
		}
	}
	if !slices.Contains(Kinds(), kind) {
		known := append(Kinds(), "fattree", "jellyfish")
		return nil, fmt.Errorf("%q is no topology: name a file that ends in .yaml, .clab.yml, .json, .graphml or .dot, or write %s", arg, oneOf(kind, known))
	}
	spec, err := ParseSpec(arg)
	if err != nil {
		return nil, err
	}
	f, err := New(spec)
	if err != nil {
		return nil, err
	}
	return f.Topology, nil
}

// generate builds a fat-tree or a Jellyfish; known are its keys with their defaults.
func generate(arg, kind, known, given string) (*pathmap.Topology, error) {
	values, names := map[string]string{}, []string{}
	for _, pair := range strings.Split(known, ",") {
		key, value, _ := strings.Cut(pair, "=")
		values[key] = value
		names = append(names, key)
	}
	at := len(kind) + 2
	for pair := range strings.SplitSeq(given, ",") {
		key, value, ok := strings.Cut(pair, "=")
		switch {
		case given == "":
		case !ok || value == "":
			return nil, fmt.Errorf("parse topology %q: column %d: %q is no key with a value: write it like %s", arg, at, pair, strings.Split(known, ",")[0])
		case !slices.Contains(names, key):
			return nil, fmt.Errorf("parse topology %q: column %d: %s: unknown key of a %s: write %s", arg, at, key, kind, oneOf(key, names))
		default:
			values[key] = value
		}
		at += len(pair) + 1
	}
	numbers := map[string]int{}
	for _, key := range names {
		if key == "rate" {
			continue
		}
		n, err := strconv.Atoi(values[key])
		if err != nil || n < 0 {
			return nil, fmt.Errorf("parse topology %q: %s: %q is no whole number from 0", arg, key, values[key])
		}
		numbers[key] = n
	}
	rate, err := pathmap.ParseRate(values["rate"])
	if err == nil {
		err = checkRate("rate", rate)
	}
	if err != nil {
		return nil, fmt.Errorf("parse topology %q: %w", arg, err)
	}
	if kind == "fattree" {
		return FatTree(numbers["k"], numbers["hosts"], rate)
	}
	seed := uint64(numbers["seed"])
	return Jellyfish(numbers["switches"], numbers["degree"], numbers["hosts"], rate, rand.New(rand.NewPCG(seed, seed)))
}
