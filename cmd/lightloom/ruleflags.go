package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lightloom/controller/policy"
	"lightloom/lab/scenario"
)

// ruleFlags are the flags that choose the rules of a replay and whose words must be parsed first.
type ruleFlags struct {
	local, admission, redecide, fairness string
}

func (f *ruleFlags) add(c *cobra.Command, r *scenario.Rules) {
	c.Flags().IntVar(&r.MaxWidth, "max-width", 0, "leave out coflows of more flows; 0: none")
	c.Flags().BoolVar(&r.AllAtZero, "all-at-zero", false, "all coflows arrive when the run begins")
	c.Flags().BoolVar(&r.OneAtATime, "one-at-a-time", false,
		"each coflow arrives when the one before has ended")
	c.Flags().StringVar(&f.local, "local-flows", "",
		"free (default): bytes within a rack's host take no time; carried: "+
			"they take both directions of its port")
	c.Flags().StringVar(&f.admission, "admission", "arrival",
		"when coflows start: arrival, or epoch:8ms for multiples "+
			"of a time")
	c.Flags().StringVar(&f.redecide, "redecide", "policy",
		"when rates are decided anew: coflow (at the start and end of "+
			"coflows), flow (at the end of every flow, too) or policy (as the policy does by itself)")
	c.Flags().StringVar(&r.Compat, "compat", "",
		"rules of another simulator: coflowsim (Varys'), sunflow (Sunflow's "+
			"own) or sincronia (Sincronia's offline one)")
	c.Flags().DurationVar(&r.Step, "time-step", 0,
		"report the ends of flows at multiples of this time, such as 10ms: "+
			"sooner where shuffles are large, and\neach end up to a step late; 0: when they come")
	c.Flags().StringVar(&f.fairness, "fairness", "maxmin",
		"how TCP shares links on the simulator: maxmin, or "+
			"proportional, which is nearer to packets\nwhere host flows cross several full links")
	c.Flags().BoolVar(&r.AllStop, "all-stop", false,
		"every circuit goes dark when one moves; default: only those of "+
			"the ports that move")
	c.Flags().Float64Var(&r.Background, "background", 0,
		"fill this share of what hosts can send (0.1 for a tenth) with "+
			"seeded flows to other racks")
	c.Flags().StringVar(&r.Attributes, "attributes", "",
		"CSV file with the head id,weight,deadline: what the trace "+
			"does not say of its coflows; deadlines in seconds after arrival")
	explain(c, r)
	c.Flags().StringVar(&r.PerCoflow, "per-coflow", "",
		"file for a line a coflow: id, arrival, start, end, bytes, "+
			"width, bottleneck weight, deadline (times in seconds); .csv or .jsonl")
	c.Flags().StringVar(&r.PerCircuit, "per-circuit", "",
		"file for a line a circuit: in, out, coflow, intended, dark, "+
			"connected, in_service, ended, bytes; .csv or .jsonl")
	c.Flags().StringVar(&r.PerQueue, "per-queue", "",
		"file for a line a port: bytes, drops, largest and mean queue (on "+
			"the simulator what waits for the port); .csv or .jsonl")
	c.Flags().StringVar(&r.PerReservation, "per-reservation", "",
		"file for a line a circuit reservation: when it was to "+
			"hold and when it did, and what its host flows had left;\n.jsonl (which --circuits recorded:FILE replays) or .csv")
	c.Flags().StringVar(&r.PerHostFlow, "per-host-flow", "",
		"file for a line a host flow on netns: bytes, segments "+
			"retransmitted, reordered and acknowledged; .csv or .jsonl")
	mark(c, inputMark, "attributes")
	mark(c, placeMark, "per-coflow", "per-circuit", "per-queue", "per-reservation", "per-host-flow")
}

// explain adds the flag of the file of explanations.
func explain(c *cobra.Command, r *scenario.Rules) {
	c.Flags().StringVar(&r.Explain, "explain", "",
		"file that says for every decision of the annealer why each task and "+
			"flow went where it did and what the next best\nwould have cost; .jsonl, or .txt to read")
	mark(c, placeMark, "explain")
}

// check parses the words into rules, or returns which one is wrong. Commands without these flags pass.
func (f *ruleFlags) check(c *cobra.Command, r *scenario.Rules) error {
	if name := r.Explain; name != "" && !slices.Contains([]string{".txt", ".jsonl", ".ndjson", ".json"},
		strings.ToLower(filepath.Ext(name))) {
		return usage("write --explain why.txt to read, or why.jsonl",
			"%s: the ending of --explain %q tells no format",
			c.Name(), name)
	}
	if c.Flags().Lookup("admission") == nil {
		return nil
	}
	for _, check := range []func(*cobra.Command, *scenario.Rules) error{checkRuleNumbers,
		f.checkCompat, f.words,
		checkFiles, f.epoch} {
		if err := check(c, r); err != nil {
			return err
		}
	}
	return nil
}

func checkRuleNumbers(c *cobra.Command, r *scenario.Rules) error {
	switch {
	case r.MaxWidth < 0:
		return usage("write --max-width 400, or leave it away", "%s: --max-width %d is below zero",
			c.Name(), r.MaxWidth)
	case r.Step < 0 || r.Step > time.Hour:
		return usage("write --time-step 10ms, or leave it away",
			"%s: --time-step %v is below zero or above an hour",
			c.Name(), r.Step)
	case !(r.Background >= 0 && r.Background < 1):
		return usage("write --background 0.1 for a tenth",
			"%s: --background %v is no share from 0 to below 1", c.Name(),
			r.Background)
	case r.AllAtZero && r.OneAtATime:
		return usage("leave one of them away", "%s: --all-at-zero and --one-at-a-time exclude each other", c.Name())
	}
	return nil
}

// checkCompat refuses rules that another simulator's exclude.
func (f *ruleFlags) checkCompat(c *cobra.Command, r *scenario.Rules) error {
	if r.Compat == "" {
		return nil
	}
	if err := oneOf(c, "compat", r.Compat, scenario.Compats()...); err != nil {
		return err
	}
	switch {
	case r.Compat == scenario.CompatSincronia && r.OneAtATime:
		return usage("leave one of them away", "%s: --compat %s has all coflows arrive at once, --one-at-a-time does not",
			c.Name(), r.Compat)
	case c.Flags().Changed("redecide"):
		return usage("leave --redecide away", "%s: --compat %s has its own rule for --redecide",
			c.Name(), r.Compat)
	case r.Step > 0:
		return usage("leave --time-step away", "%s: --compat %s has its own steps of time", c.Name(), r.Compat)
	case f.fairness == "proportional":
		return usage("leave --fairness away", "%s: --compat %s has its own rates", c.Name(), r.Compat)
	case r.Compat == scenario.CompatSunflow && (f.local == "carried" || r.AllStop):
		return usage("leave --local-flows and --all-stop away",
			"%s: with --compat sunflow local flows are free, and only circuits that move are dark", c.Name())
	}
	return nil
}

// words reads the flags that take one of a few words.
func (f *ruleFlags) words(c *cobra.Command, r *scenario.Rules) error {
	if err := oneOf(c, "fairness", f.fairness, "maxmin", "proportional"); err != nil {
		return err
	}
	r.Proportional = f.fairness == "proportional"

	if err := oneOf(c, "redecide", f.redecide, "policy", string(policy.AtCoflows),
		string(policy.AtFlows)); err != nil {
		return err
	}
	if r.Redecide = policy.Redecide(f.redecide); f.redecide == "policy" {
		r.Redecide = ""
	}

	if f.local == "" {
		r.CarryLocal = r.Compat == scenario.CompatCoflowsim || r.Compat == scenario.CompatSincronia // they carry them
		return nil
	}
	r.CarryLocal = f.local == "carried"
	return oneOf(c, "local-flows", f.local, "free", "carried")
}

// checkFiles checks the names of files that get a line for each of something.
func checkFiles(c *cobra.Command, r *scenario.Rules) error {
	for _, file := range []struct{ flag, name string }{{"coflow", r.PerCoflow}, {"circuit", r.PerCircuit},
		{"queue", r.PerQueue}, {"reservation", r.PerReservation}, {"host-flow", r.PerHostFlow}} {
		if file.name != "" && !slices.Contains([]string{".csv", ".jsonl", ".ndjson", ".json"},
			strings.ToLower(filepath.Ext(file.name))) {
			return usage(fmt.Sprintf("write --per-%s %ss.csv, or %ss.jsonl", file.flag, file.flag, file.flag),
				"%s: the ending of --per-%s %q tells no format", c.Name(), file.flag, file.name)
		}
	}
	return nil
}

func (f *ruleFlags) epoch(c *cobra.Command, r *scenario.Rules) error {
	if f.admission == "arrival" {
		return nil
	}
	const hint = "write --admission arrival, or --admission epoch:8ms"
	text, ok := strings.CutPrefix(f.admission, "epoch:")
	d, err := time.ParseDuration(text)
	switch {
	case !ok:
		return usage(hint, "%s: --admission %q is unknown", c.Name(), f.admission)
	case err != nil:
		return usage(hint, "%s: --admission %q: %q is no duration", c.Name(), f.admission, text)
	case d <= 0 || d > time.Hour:
		return usage(hint, "%s: --admission %q: an epoch is above zero and at most an hour",
			c.Name(), f.admission)
	}
	r.Epoch = d
	return nil
}
