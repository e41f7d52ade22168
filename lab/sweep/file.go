package sweep

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
	"lightloom/southbound/yamlfile"
)

// File is a sweep as users write one.
type File struct {
	Fabrics   []string       `yaml:"fabrics"`   // as --fabric takes them
	Traces    []string       `yaml:"traces"`    // as --trace does
	Workloads []string       `yaml:"workloads"` // as --workload does
	Policies  []string       `yaml:"policies"`  // the first is compared with
	Seeds     string         `yaml:"seeds"`     // such as 1-40; one number is one seed
	Flags     map[string]any `yaml:"flags"`     // others of replay, by name

	first uint64
	count int
	text  []byte // of the file
	at    *yamlfile.File
}

// keys are those of a file, for who misspells one.
func keys() []string { return []string{"fabrics", "traces", "workloads", "policies", "seeds", "flags"} }

// mostSeeds bounds the seeds of a sweep.
const mostSeeds = 10_000

// Case is one fabric under one trace or workload: a replay.
type Case struct {
	Name string // of its folder
	Args []string
	keys yamlfile.Keys // where the fabric stands
	jobs yamlfile.Keys // where the trace or workload does
	file *File
}

// At puts file, line and column before what is wrong with a case: those of the value that the error names, else of the
// fabric.
func (c Case) At(err error) error {
	text := err.Error()
	for name := range c.file.Flags {
		if regexp.MustCompile("--" + regexp.QuoteMeta(name) + `\b`).MatchString(text) {
			return c.file.at.At(yamlfile.Keys{"flags", name}, err)
		}
	}
	for i, p := range c.file.Policies {
		if strings.Contains(text, strconv.Quote(p)) {
			return c.file.at.At(yamlfile.Keys{"policies", i}, err)
		}
	}
	if key, i := c.jobs[0].(string), c.jobs[1].(int); strings.Contains(text, c.file.list(key)[i]) {
		return c.file.at.At(c.jobs, err)
	}
	return c.file.at.At(c.keys, err)
}

func (f *File) list(key string) []string {
	if key == "traces" {
		return f.Traces
	}
	return f.Workloads
}

// Read reads a sweep's file. Errors name file, line, column and what to write.
func Read(path string) (*File, error) {
	data, err := yamlfile.Read(path)
	if err != nil {
		return nil, hint.Wrong(fmt.Errorf("read sweep: %w", err))
	}
	f, err := parse(path, data)
	if err != nil {
		return nil, hint.Wrong(fmt.Errorf("read sweep: %w", err))
	}
	return f, nil
}

func parse(name string, data []byte) (*File, error) {
	f := &File{text: data}
	var err error
	if f.at, err = yamlfile.Decode(name, data, f); err != nil {
		return nil, meant(err)
	}
	for _, l := range []struct {
		key    string
		values []string
		needed bool
	}{{"fabrics", f.Fabrics, true}, {"policies", f.Policies, true},
		{"traces", f.Traces, len(f.Workloads) == 0}, {"workloads", f.Workloads, false}} {
		if len(l.values) == 0 && l.needed {
			return nil, f.at.At(nil, fmt.Errorf("no %s: write %s: and a list", l.key, l.key))
		}
		for i, v := range l.values {
			switch {
			case strings.TrimSpace(v) == "":
				return nil, f.at.At(yamlfile.Keys{l.key, i}, errors.New("it is empty: leave it out"))
			case slices.Contains(l.values[:i], v):
				return nil, f.at.At(yamlfile.Keys{l.key, i}, fmt.Errorf("%q is named twice: leave one out", v))
			}
		}
	}
	if f.first, f.count, err = parseSeeds(f.Seeds); err != nil {
		return nil, f.at.At(yamlfile.Keys{"seeds"}, err)
	}
	return f, f.checkFlags()
}

// meant adds the key that a misspelt one is nearest to.
func meant(err error) error {
	m := regexp.MustCompile(`unknown field "([^"]{1,64})"`).FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	best := keys()[0]
	for _, k := range keys() {
		if topo.Edits(m[1], k) < topo.Edits(m[1], best) {
			best = k
		}
	}
	if topo.Edits(m[1], best) > 2 {
		return fmt.Errorf("%w: the keys are %s", err, strings.Join(keys(), ", "))
	}
	return fmt.Errorf("%w: write %s", err, best)
}

// parseSeeds reads 1-40 or 7; none are seed 1.
func parseSeeds(text string) (first uint64, count int, err error) {
	if text == "" {
		return 1, 1, nil
	}
	from, to, isRange := strings.Cut(text, "-")
	first, err = strconv.ParseUint(strings.TrimSpace(from), 10, 64)
	last := first
	if isRange && err == nil {
		last, err = strconv.ParseUint(strings.TrimSpace(to), 10, 64)
	}
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("%.40q are no seeds: write them like 1-40, or one number", text)
	case last < first:
		return 0, 0, fmt.Errorf("seeds %d-%d end before they begin: write %d-%d", first, last, last, first)
	case last-first >= mostSeeds:
		return 0, 0, fmt.Errorf("seeds %d-%d are more than %d: write fewer", first, last, mostSeeds)
	}
	return first, int(last-first) + 1, nil
}

// notFlags are flags of replay that a sweep's own keys stand for, or that its runs have no use for, and what to write.
func notFlags() map[string]string {
	own := func(key string) string { return "write it under " + key + ":, beside flags:" }
	none := "leave it out: runs of a sweep have no use for it"
	return map[string]string{
		"fabric": own("fabrics"), "trace": own("traces"), "workload": own("workloads"), "policy": own("policies"),
		"seed": own("seeds"), "repeat": own("seeds"), "seeds": own("seeds"),
		"against": "name that policy first under policies:",
		"on":      "leave it out: sweeps run on the simulator",
		"explain": none, "per-coflow": none, "per-circuit": none, "per-queue": none, "per-reservation": none,
		"per-host-flow": none, "interleave": none, "report-dir": none, "output": none, "dry-run": none, "verbose": none,
		"help": none, "config": none,
	}
}

func (f *File) checkFlags() error {
	for name, v := range f.Flags {
		if mend, ok := notFlags()[name]; ok {
			return f.at.At(yamlfile.Keys{"flags", name}, fmt.Errorf("%s: %s", name, mend))
		}
		if text, ok := v.(string); ok && strings.Contains(text, "exec:") {
			return f.at.At(yamlfile.Keys{"flags", name}, fmt.Errorf("%s: the content of a program cannot be told, so its runs "+
				"would not be made again when it changes: write lightloom replay --%s=%s", name, name, text))
		}
		switch v.(type) {
		case string, bool, uint64, int64, int, float64:
		default:
			return f.at.At(yamlfile.Keys{"flags", name}, fmt.Errorf("%s: its value is no word or number", name))
		}
	}
	return nil
}

// Cases returns the replays of the grid, fabric by fabric.
func (f *File) Cases() []Case {
	var all []Case
	for i, fabric := range f.Fabrics {
		for _, key := range []string{"traces", "workloads"} {
			for k, v := range f.list(key) {
				all = append(all, Case{Name: fmt.Sprintf("%03d-%s-%s", len(all)+1, plain(fabric), plain(v)),
					Args: f.args(fabric, strings.TrimSuffix(key, "s"), v), keys: yamlfile.Keys{"fabrics", i},
					jobs: yamlfile.Keys{key, k}, file: f})
			}
		}
	}
	return all
}

// args is the command line of the replay.
func (f *File) args(fabric, flag, value string) []string {
	args := []string{"replay", "--fabric=" + fabric, "--" + flag + "=" + value,
		"--policy=" + strings.Join(f.Policies, ","),
		fmt.Sprintf("--seed=%d", f.first), fmt.Sprintf("--repeat=%d", f.count)}
	var more []string
	for name, v := range f.Flags {
		more = append(more, fmt.Sprintf("--%s=%v", name, v))
	}
	slices.Sort(more)
	return append(args, more...)
}

// plain makes a part of a folder's name of a fabric or a trace.
func plain(text string) string {
	text = strings.Trim(regexp.MustCompile(`[^A-Za-z0-9.]+`).ReplaceAllString(text, "-"), "-.")
	return strings.TrimRight(text[:min(len(text), 40)], "-.")
}
