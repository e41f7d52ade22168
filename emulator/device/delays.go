package device

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"lightloom/pathmap/topo"
)

// Delays are the stages of a change after the device has accepted it. What comes before (commit, RPC) is the
// controller's and the network's.
type Delays struct {
	Apply  Dist // accepted → effective: the device's own software; one draw a change
	Dark   Dist // mirrors in motion; one draw a change, for all its circuits
	Lock   Dist // light → receiver locked; one draw a circuit
	Detect Dist // light lost or back → the switch knows
}

// stage is one named field of Delays, for the text form.
type stage struct {
	name string
	dist *Dist
}

func (d *Delays) stages() []stage {
	return []stage{{"apply", &d.Apply}, {"dark", &d.Dark}, {"lock", &d.Lock}, {"detect", &d.Detect}}
}

// String is the text form: "apply=1ms,dark=normal(10ms,1ms),lock=2ms,detect=50µs"; stages of zero are
// left out.
func (d Delays) String() string {
	var parts []string
	for _, s := range d.stages() {
		if !s.dist.IsZero() {
			parts = append(parts, s.name+"="+s.dist.String())
		}
	}
	return strings.Join(parts, ",")
}

// Check returns an error if d is invalid.
func (d Delays) Check() error {
	for _, s := range d.stages() {
		if err := s.dist.Check(); err != nil {
			return fmt.Errorf("stage %s: %w", s.name, err)
		}
	}
	return nil
}

// Preset is delays under a name, with the place where they are published.
type Preset struct{ Name, Delays, Source string }

// Presets returns the presets there are. Figures are as published: where only a bound is, it is the
// bound. None has a detect stage, for it is the packet switches'.
func Presets() []Preset {
	return []Preset{
		{"mordia", "apply=68.5µs,dark=2.8µs,lock=8.7µs",
			"N. Farrington et al., A demonstration of ultra-low-latency data " +
				"center optical circuit switching, SIGCOMM 2012: programming, switching and receiver initialization of a 24-port " +
				"prototype"},
		{"s320-bulk", "dark=200ms", "Calient S320 OCS Hardware User Guide, appendix A, note 2: a bulk set takes up to 200 " +
			"ms where the controller manages conflicts (500 ms where the switch does)"},
		{"sonic-validated", "apply=uniform(5s,20s),dark=10ms",
			"a Set that SONiC's generic configuration updater holds " +
				"against its YANG modules, as met on devices; the mirrors are not published"},
	}
}

// ParseDelays reads the text form. A stage that is not named is zero, or that of a preset whose name
// comes first: "mordia,lock=2ms".
func ParseDelays(text string) (Delays, error) { return ParseBudget(text, nil) }

// ParseBudget is ParseDelays for a text that can name more stages, which are not the device's: these
// are changed in more.
func ParseBudget(text string, more map[string]*Dist) (Delays, error) {
	return Delays{}.With(text, more)
}

// With returns d with the stages changed that a text names, all of them where it begins with a preset.
func (d Delays) With(text string, more map[string]*Dist) (Delays, error) {
	if strings.TrimSpace(text) == "" {
		return d, nil
	}
	seen := map[string]bool{}
	for n, part := range splitTop(text) {
		key, value, assigned := strings.Cut(part, "=")
		if n == 0 && !assigned {
			p, err := presetNamed(strings.TrimSpace(part))
			if err != nil {
				return Delays{}, fmt.Errorf("parse delays %q: %w", text, err)
			}
			d = p
			continue
		}
		key = strings.TrimSpace(key)
		into := more[key]
		if i := slices.IndexFunc(d.stages(), func(s stage) bool { return s.name == key }); i >= 0 {
			into = d.stages()[i].dist
		}
		switch {
		case into == nil:
			known := append(slices.Sorted(maps.Keys(more)), "apply", "dark", "lock")
			return Delays{}, fmt.Errorf("parse delays %q: stage %q is unknown: write %s or detect", text, key,
				strings.Join(known, ", "))
		case seen[key]:
			return Delays{}, fmt.Errorf("parse delays %q: stage %q is given twice", text, key)
		}
		seen[key] = true
		v, err := ParseDist(strings.TrimSpace(value))
		if err != nil {
			return Delays{}, fmt.Errorf("parse delays: stage %q: %w", key, err)
		}
		*into = v
	}
	return d, nil
}

func presetNamed(name string) (Delays, error) {
	var known []string
	for _, p := range Presets() {
		if p.Name == name {
			return ParseDelays(p.Delays)
		}
		known = append(known, p.Name)
	}
	return Delays{}, fmt.Errorf("preset %q is unknown: write one of %s, or stages such as dark=10ms", name,
		strings.Join(known, ", "))
}

// OfOCS returns d with what a fabric's spec has for one of its optical switches alone.
func (d Delays) OfOCS(spec topo.Spec, ocs int) Delays {
	for _, s := range d.stages() {
		if own, ok := spec.OwnDelay(s.name, ocs); ok {
			*s.dist = Fixed(own)
		}
	}
	return d
}

// SplitOwn takes the stages of single switches, such as "dark@1=50ms", out of a text, and returns them by
// what stands before the "=", in their order.
func SplitOwn(text string) (common string, own [][2]string) {
	var rest []string
	for _, part := range splitTop(text) {
		key, value, assigned := strings.Cut(part, "=")
		if key = strings.TrimSpace(key); assigned && strings.Contains(key, "@") {
			own = append(own, [2]string{key, value})
			continue
		}
		rest = append(rest, part)
	}
	return strings.Join(rest, ","), own
}

// splitTop splits at the commas outside parentheses.
func splitTop(s string) []string {
	var parts []string
	depth, start := 0, 0
	for i, c := range s {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts, start = append(parts, s[start:i]), i+1
		}
	}
	return append(parts, s[start:])
}

// quantileDraws makes the standard error of a p90 about 0.5 % of a rank: enough for a δ that is later
// measured.
const quantileDraws = 4001

// Quantile returns the p-quantile (nearest rank, 0 < p ≤ 1) of a whole move, accepted → connected:
// apply, dark and lock together, by a fixed seeded sample.
func (d Delays) Quantile(p float64) time.Duration {
	r := rand.New(rand.NewPCG(1, 0x51))
	sums := make([]time.Duration, quantileDraws)
	for i := range sums {
		sums[i] = d.Apply.Draw(r) + d.Dark.Draw(r) + d.Lock.Draw(r)
	}
	slices.Sort(sums)
	i := int(p*quantileDraws+0.9999999) - 1
	return sums[min(max(i, 0), quantileDraws-1)]
}
