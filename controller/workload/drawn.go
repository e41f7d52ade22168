package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
)

// Drawn is a workload as users name one on a command line: storm, hadoop, synthetic, training or a kind of chain,
// and perhaps a colon and keys with values.
type Drawn struct {
	Text   string
	storm  *StormOptions
	hadoop *HadoopOptions
	shaped *ShapedOptions
	chains *ChainOptions
	train  *TrainingOptions
	swim   string // the path of a trace
}

// Jobs draws the jobs for a fabric of so many hosts; first limits their number, and 0 means all. Sizes
// are the contents of Trace's file; nil without one.
func (d *Drawn) Jobs(seed uint64, hosts, first int, sizes []Size) ([]controller.Job, error) {
	var jobs []controller.Job
	var err error
	switch {
	case d.train != nil:
		o := *d.train
		o.Seed, o.Hosts = seed, hosts
		jobs, err = Training(o)
	case d.chains != nil:
		o := *d.chains
		o.Seed, o.Hosts = seed, hosts
		jobs, err = Chains(o)
	case d.shaped != nil:
		o := *d.shaped
		o.Seed, o.Hosts = seed, hosts
		jobs, err = Shaped(o)
	case d.storm != nil:
		o := *d.storm
		o.Seed = seed
		jobs, err = Storm(o)
	default:
		o := *d.hadoop
		o.Seed, o.Sizes = seed, sizes
		jobs, err = Hadoop(o)
	}
	if first > 0 && len(jobs) > first {
		jobs = jobs[:first]
	}
	return jobs, err
}

// Iterations returns how many iterations each job has; 0 where jobs have none.
func (d *Drawn) Iterations() int {
	if d.train == nil {
		return 0
	}
	return d.train.defaults().Iterations
}

// Trace returns the path of the SWIM trace that sizes are taken from; empty for none.
func (d *Drawn) Trace() string { return d.swim }

// ParseDrawn reads a workload's text, such as "storm:jobs=50,rate=10/min,bytes=1MB-100MB". Keys by kind:
//
//	storm   jobs rate for arrivals bytes spouts bolts parallel children sigma forward cycles
//	hadoop  jobs rate for arrivals bytes maps reduces rounds replicas compute swim
//	synthetic
//	        jobs rate for arrivals bytes width tail
//	training
//	        data tensor pipeline expert steps iterations compute tp pp dp ep skew collective inner
//	kmeans, bayes, pagerank, ml, tpch, tpch-tez, dag
//	        chains rate for arrivals bytes maps reduces rounds input; rate counts chains
//
// An unknown key, a value that is none, and a key given twice are errors that name the column.
func ParseDrawn(text string) (*Drawn, error) {
	kind, rest, more := strings.Cut(text, ":")
	p := &drawing{Drawn: Drawn{Text: text}}
	switch {
	case kind == "storm":
		p.storm = &StormOptions{}
	case kind == "hadoop":
		p.hadoop = &HadoopOptions{}
	case kind == "synthetic":
		p.shaped = &ShapedOptions{}
	case kind == "training":
		p.train = &TrainingOptions{}
	case slices.Contains(ChainKinds(), kind):
		p.chains = &ChainOptions{Kind: kind}
	default:
		return nil, fmt.Errorf("read workload %q: column 1: %q is unknown: write storm, hadoop, synthetic, training, %s, "+
			"the path of a .yaml or .json file, or spark: and that of an event log", text, clip(kind),
			strings.Join(ChainKinds(), ", "))
	}
	for at := len(kind) + 1; more; {
		var pair string
		pair, rest, more = strings.Cut(rest, ",")
		if err := p.pair(pair); err != nil {
			return nil, fmt.Errorf("read workload %q: column %d: %w", text, at+1, err)
		}
		at += len(pair) + 1
	}
	if err := p.finish(); err != nil {
		return nil, fmt.Errorf("read workload %q: %w", text, err)
	}
	return &p.Drawn, nil
}

// drawing is a Drawn being read.
type drawing struct {
	Drawn
	given []string
	last  time.Duration // "for"
}

// drawnKey is one key of a kind.
type drawnKey struct {
	name string
	set  func(value string) error
}

func (p *drawing) pair(pair string) error {
	name, value, ok := strings.Cut(pair, "=")
	if !ok || value == "" {
		return fmt.Errorf("%q is no key with a value: write it like jobs=50", pair)
	}
	var known []string
	for _, k := range p.keys() {
		known = append(known, k.name)
		if k.name != name {
			continue
		}
		if slices.Contains(p.given, name) {
			return fmt.Errorf("%s: given twice: leave one out", name)
		}
		p.given = append(p.given, name)
		if err := k.set(value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("%s: unknown key: write %s", name, strings.Join(known, ", "))
}

func (p *drawing) keys() []drawnKey {
	if o := p.storm; o != nil {
		return append(p.common(&o.Jobs, &o.Every, &o.Poisson, &o.Least, &o.Most),
			drawnKey{"spouts", count(&o.Spouts)}, drawnKey{"bolts", count(&o.Bolts)}, drawnKey{"parallel",
				count(&o.Parallel)},
			drawnKey{"children", fraction(&o.Children)}, drawnKey{"sigma", func(v string) error {
				err := fraction(&o.Sigma)(v)
				if o.Sigma == 0 {
					o.Sigma = -1 // none
				}
				return err
			}},
			drawnKey{"forward", word(&o.Split, "copy", "split")}, drawnKey{"cycles", fraction(&o.Back)})
	}
	if o := p.shaped; o != nil {
		return append(p.common(&o.Jobs, &o.Every, &o.Poisson, &o.Least, &o.Most),
			drawnKey{"width", counts(&o.Narrow, &o.Wide)}, drawnKey{"tail", fraction(&o.Tail)})
	}
	if o := p.train; o != nil {
		return []drawnKey{{"data", count(&o.Data)}, {"tensor", count(&o.Tensor)}, {"pipeline", count(&o.Pipeline)},
			{"expert", count(&o.Expert)}, {"steps", count(&o.Steps)}, {"iterations", count(&o.Iterations)},
			{"compute", func(v string) error {
				err := length(&o.Compute)(v)
				o.Compute = max(o.Compute, 1) // 0 would be the default
				return err
			}}, {"tp", size(&o.TP)}, {"pp", size(&o.PP)}, {"dp", size(&o.DP)},
			{"ep", size(&o.EP)}, {"skew", fraction(&o.Skew)}, {"collective", oneOf(&o.Collective, Collectives())},
			{"inner", oneOf(&o.Inner, Inners())}}
	}
	if o := p.chains; o != nil {
		keys := append(p.common(&o.Chains, &o.Every, &o.Poisson, &o.Least, &o.Most),
			drawnKey{"maps", count(&o.Maps)},
			drawnKey{"reduces", count(&o.Reduces)}, drawnKey{"rounds", count(&o.Rounds)},
			drawnKey{"input", word(&o.Blocks, "network", "blocks")})
		keys[0].name = "chains"
		return keys
	}
	o := p.hadoop
	return append(p.common(&o.Jobs, &o.Every, &o.Poisson, &o.Least, &o.Most),
		drawnKey{"maps", count(&o.Maps)}, drawnKey{"reduces", count(&o.Reduces)}, drawnKey{"rounds",
			count(&o.Rounds)},
		drawnKey{"replicas", count(&o.Replicas)}, drawnKey{"compute", length(&o.Compute)},
		drawnKey{"swim", func(v string) error { p.swim = v; return nil }})
}

func (p *drawing) common(jobs *int, every *time.Duration, poisson *bool, least,
	most *pathmap.Bytes) []drawnKey {
	return []drawnKey{{"jobs", count(jobs)}, {"rate", rate(every)}, {"for", length(&p.last)},
		{"arrivals", word(poisson, "even", "poisson")}, {"bytes", span(least, most)}}
}

// finish turns "for" into a number of jobs and checks the whole.
func (p *drawing) finish() error {
	switch {
	case p.train != nil:
		o := p.train.defaults()
		return o.check()
	case p.last > 0 && (slices.Contains(p.given, "jobs") || slices.Contains(p.given, "chains")):
		return fmt.Errorf("%s and for both say when it ends: leave one out", p.keys()[0].name)
	case p.chains != nil:
		if p.last > 0 {
			p.chains.Chains = jobsIn(p.last, p.chains.defaults().Every)
		}
		o := p.chains.defaults()
		return o.check()
	case p.shaped != nil:
		if p.last > 0 {
			p.shaped.Jobs = jobsIn(p.last, p.shaped.defaults().Every)
		}
		o := p.shaped.defaults()
		return o.check()
	case p.storm != nil:
		if p.last > 0 {
			p.storm.Jobs = jobsIn(p.last, p.storm.defaults().Every)
		}
		o := p.storm.defaults()
		return o.check()
	}
	if p.last > 0 {
		p.hadoop.Jobs = jobsIn(p.last, p.hadoop.defaults().Every)
	}
	o := p.hadoop.defaults()
	return o.check()
}

func jobsIn(last, every time.Duration) int {
	return int(min((last+every-1)/max(every, 1), maxJobs+1))
}

func count(p *int) func(string) error {
	return func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no whole number from 1", v)
		}
		*p = n
		return nil
	}
}

// counts reads "2-16", or one number for both ends.
func counts(least, most *int) func(string) error {
	return func(v string) error {
		low, high, two := strings.Cut(v, "-")
		if err := count(least)(low); err != nil {
			return err
		}
		if *most = *least; two {
			if err := count(most)(high); err != nil {
				return err
			}
		}
		if *most < *least {
			return fmt.Errorf("%q: write the least first", v)
		}
		return nil
	}
}

func fraction(p *float64) func(string) error {
	return func(v string) error {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || !(f >= 0 && f <= 1e6) {
			return fmt.Errorf("%q is no number from 0", v)
		}
		*p = f
		return nil
	}
}

func length(p *time.Duration) func(string) error {
	return func(v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 || d > 365*24*time.Hour {
			return fmt.Errorf("%q is no time such as 10m or 500ms", v)
		}
		*p = d
		return nil
	}
}

// rate reads "10/min": a number of jobs and a time.
func rate(p *time.Duration) func(string) error {
	return func(v string) error {
		number, unit, _ := strings.Cut(v, "/")
		per := map[string]time.Duration{"s": time.Second, "min": time.Minute, "h": time.Hour}[unit]
		f, err := strconv.ParseFloat(number, 64)
		if err != nil || per == 0 || !(f > 0 && f <= 1e6) {
			return fmt.Errorf("%q is no rate such as 10/min or 1/s", v)
		}
		*p = time.Duration(float64(per) / f)
		return nil
	}
}

// span reads "1MB-100MB", or one size for both ends.
func span(least, most *pathmap.Bytes) func(string) error {
	return func(v string) (err error) {
		low, high, two := strings.Cut(v, "-")
		if *least, err = pathmap.ParseBytes(low); err != nil {
			return err
		}
		if *most = *least; two {
			*most, err = pathmap.ParseBytes(high)
		}
		if err == nil && (*least < 1 || *most < *least) {
			err = fmt.Errorf("%q: write the least first, and at least 1B", v)
		}
		return err
	}
}

// word reads one of two words: no and yes.
func word(p *bool, no, yes string) func(string) error {
	return func(v string) error {
		if v != no && v != yes {
			return fmt.Errorf("%q is unknown: write %s or %s", v, no, yes)
		}
		*p = v == yes
		return nil
	}
}

// size reads one size of at least a byte.
func size(p *pathmap.Bytes) func(string) error {
	return func(v string) (err error) {
		if *p, err = pathmap.ParseBytes(v); err == nil && *p < 1 {
			err = fmt.Errorf("%q: take at least 1B", v)
		}
		return err
	}
}

// oneOf reads one of some words.
func oneOf(p *string, words []string) func(string) error {
	return func(v string) error {
		if !slices.Contains(words, v) {
			return fmt.Errorf("%q is unknown: write %s", v, strings.Join(words, ", "))
		}
		*p = v
		return nil
	}
}
