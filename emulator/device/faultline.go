package device

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"lightloom/pathmap/plaintext"
	"lightloom/southbound"
)

// Step is something that is done to a device at an instant: a fault that is armed, all that are
// disarmed, a restart, or that its configuration is saved.
type Step struct {
	At    time.Duration
	Fault Fault
	Clear bool
	Boot  time.Duration // of a restart; 0: none
	Save  bool
}

// Do does the step now.
func (s Step) Do(now time.Duration, d *Device) {
	switch {
	case s.Clear:
		d.ClearFaults()
	case s.Save:
		d.Save()
	case s.Boot > 0:
		d.Restart(now, s.Boot)
	case s.Fault.Kind == Forgetting:
		d.Forget(now, s.Fault.Port)
	default:
		d.Fault(s.Fault)
	}
}

// faultWord is one kind of line, and the keys it takes.
type faultWord struct {
	name string
	kind FaultKind
	keys []string
}

func faultWords() []faultWord {
	return []faultWord{
		{"stick", Stick, []string{"port", "times"}}, {"fail", Fail, []string{"port", "times"}},
		{"spoil", Spoil, []string{"port", "times"}},
		{"slow", Slow, []string{"delay", "times"}}, {"lie", Lie, []string{"times"}}, {"deny", Deny,
			[]string{"times"}},
		{"loss", Loss, []string{"port", "db"}}, {"forget", Forgetting, []string{"port"}},
		{"restart", 0, []string{"boot"}}, {"clear", 0, nil}, {"save", 0, nil},
	}
}

// ParseStep reads a line such as "stick port=3 times=1", "slow delay=2s", "loss port=0 db=3.5",
// "restart boot=1s", "clear", each perhaps after "+500ms", the instant: since the device began.
func ParseStep(line string) (Step, error) {
	fields := strings.Fields(line)
	var s Step
	if len(fields) > 0 && strings.HasPrefix(fields[0], "+") {
		at, err := time.ParseDuration(fields[0][1:])
		if err != nil || at < 0 {
			return Step{}, fmt.Errorf("parse fault: instant %q: write a duration such as +500ms", fields[0])
		}
		s.At, fields = at, fields[1:]
	}
	if len(fields) == 0 {
		return Step{}, fmt.Errorf("parse fault: nothing is named: write %s", faultNames())
	}
	i := slices.IndexFunc(faultWords(), func(w faultWord) bool { return w.name == fields[0] })
	if i < 0 {
		return Step{}, fmt.Errorf("parse fault: %q is unknown: write %s", fields[0], faultNames())
	}
	w := faultWords()[i]
	s.Fault = Fault{Kind: w.kind, Port: southbound.NoPort}
	seen := map[string]bool{}
	for _, f := range fields[1:] {
		key, value, _ := strings.Cut(f, "=")
		if !slices.Contains(w.keys, key) || seen[key] {
			return Step{}, fmt.Errorf("parse fault %s: %q: it takes %s, each once", w.name, f, orNothing(w.keys))
		}
		seen[key] = true
		if err := s.set(key, value); err != nil {
			return Step{}, fmt.Errorf("parse fault %s: %w", w.name, err)
		}
	}
	s.Clear, s.Save = w.name == "clear", w.name == "save"
	switch {
	case w.name == "restart" && s.Boot == 0:
		return Step{}, fmt.Errorf("parse fault restart: it needs boot=, such as boot=1s")
	case w.kind == Slow && s.Fault.Delay == 0:
		return Step{}, fmt.Errorf("parse fault slow: it needs delay=, such as delay=500ms")
	case w.kind == Loss && s.Fault.Loss == 0:
		return Step{}, fmt.Errorf("parse fault loss: it needs db=, such as db=3.5")
	}
	return s, nil
}

func (s *Step) set(key, value string) error {
	switch key {
	case "port", "times":
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return fmt.Errorf("%s=%q: write a whole number", key, value)
		}
		if key == "port" {
			s.Fault.Port = southbound.Port(n)
		} else {
			s.Fault.Times = int(n)
		}
	case "delay", "boot":
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 || d > time.Hour {
			return fmt.Errorf("%s=%q: write a duration such as 500ms, at most 1h", key, value)
		}
		if key == "boot" {
			s.Boot = d
		} else {
			s.Fault.Delay = d
		}
	case "db":
		dB, err := strconv.ParseFloat(value, 64)
		if err != nil || !(dB >= 0.01 && dB <= 40) {
			return fmt.Errorf("%s=%q: write decibels from 0.01 to 40", key, value)
		}
		s.Fault.Loss = CentiBel(math.Round(dB * 100))
	}
	return nil
}

func faultNames() string {
	var names []string
	for _, w := range faultWords() {
		names = append(names, w.name)
	}
	return strings.Join(names, ", ")
}

func orNothing(keys []string) string {
	if len(keys) == 0 {
		return "nothing"
	}
	return strings.Join(keys, ", ")
}

// maxSteps bounds a fault file.
const maxSteps = 10000

// ReadSteps reads lines as ParseStep does; empty ones and what follows '#' are passed over. Errors name
// the line; name is what they call the file. Steps come sorted by instant, equal ones in the order of
// the file.
func ReadSteps(name string, r io.Reader) ([]Step, error) {
	var out []Step
	lines := bufio.NewScanner(plaintext.NewReader(r))
	n := 1
	for ; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		s, err := ParseStep(text)
		if err == nil && len(out) == maxSteps {
			err = fmt.Errorf("more than %d steps", maxSteps)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		out = append(out, s)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, n, plaintext.LineError(err))
	}
	slices.SortStableFunc(out, func(a, b Step) int { return int(min(max(a.At-b.At, -1), 1)) })
	return out, nil
}
