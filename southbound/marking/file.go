package marking

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"lightloom/southbound/yamlfile"
)

// DefaultEvery is how often a file of rules is read again, and its cgroups and routes are looked up:
// services that restart have new cgroups.
const DefaultEvery = time.Second

// File is a file of rules that are kept.
type File struct {
	Path string
	// Spare refuses rules for cgroups that this process is in: it marks its own packets.
	Spare bool

	text  []byte
	rules []Rule
}

// Read reads the file. Where it is wrong, the rules of its last reading stay.
func (f *File) Read() error {
	text, err := yamlfile.Read(f.Path)
	if err != nil {
		return fmt.Errorf("read tags: %w", err)
	}
	if f.rules != nil && bytes.Equal(text, f.text) {
		return nil
	}
	rules, err := Parse(f.Path, text)
	if err == nil && f.Spare {
		err = spare(rules)
	}
	if err != nil {
		return fmt.Errorf("read tags: %w", err)
	}
	f.text, f.rules = text, rules
	return nil
}

// spare returns an error if a rule is for this process too.
func spare(rules []Rule) error {
	own, err := Own()
	if err != nil {
		return err
	}
	for _, r := range rules {
		if in(own, strings.TrimPrefix(r.Cgroup, cgroupDir)) {
			return fmt.Errorf("the agent itself is in cgroup %q, and marks its packets: name one below, without it",
				r.Cgroup)
		}
	}
	return nil
}

// in reports whether a cgroup is another, or below it.
func in(own, cgroup string) bool { return strings.HasPrefix(own+"/", cgroup+"/") }

// Set puts the rules of the last reading in the place of those before.
func (f *File) Set(m *Marker) error { return m.Set(f.rules) }

// Keep keeps the rules of the file until ctx ends, and says what is wrong with them once.
func (f *File) Keep(ctx context.Context, m *Marker, every time.Duration, log *slog.Logger) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	told := ""
	for {
		err := f.Read()
		err = errors.Join(err, f.Set(m))
		switch {
		case err == nil:
			told = ""
		case err.Error() != told:
			told = err.Error()
			log.Warn("keep tags", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
