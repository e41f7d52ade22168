// Package conformance holds the behavioural rules of a gNMI target against one: any vendor's, any
// emulator's. It reports which hold; a rule that cannot be tried says why.
//
// Rules that write are tried only when asked for. They use ports without a circuit, or the last rack's
// rules, under an election role of their own, and take away what they have made.
package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"

	"lightloom/southbound/frameprobe"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/gnmi/schema"
)

// Result is the outcome of checking a rule.
type Result string

// The results.
const (
	Held    Result = "held"
	Broken  Result = "broken"
	Skipped Result = "skipped"
)

// Finding is one rule's outcome.
type Finding struct {
	Rule   string `json:"rule"`
	Says   string `json:"says"`
	Result Result `json:"result"`
	Why    string `json:"why,omitempty"`
}

// Options say what may be done.
type Options struct {
	Write   bool          // also try the rules that write
	Timeout time.Duration // of one rule; 0 means 10 s
	Sample  time.Duration // the interval asked for; 0 means 1 s
	Only    []string      // names of rules; nil: all
	// Restart restarts the target, and can return before that is over; circuits of others go dark with it. nil: rules
	// that need it are not tried.
	Restart func(ctx context.Context, warm bool) error
	Lab     Lab
}

// Lab is what stands around an optical switch under test. What is left out is not tried.
type Lab struct {
	// Probes are interfaces of this machine at ports of the switch.
	Probes *frameprobe.Bench
	// Dark is how long a circuit that moves is dark, as the switch is said to keep it; 0: that is told, and not judged.
	Dark time.Duration
	// PowerCut takes the switch's power away, and gives it back.
	PowerCut func(ctx context.Context) error
	// Save saves the configuration of a switch that does not so with each Set. SavesAlways says that it does.
	Save        func(ctx context.Context) error
	SavesAlways bool
	// FactoryReset has the switch as it was made; circuits of others go with it. It can return before that is over.
	FactoryReset func(ctx context.Context) error
	// Images are the images of the switch.
	Images Images
}

// Images are how another image of a switch is made to run.
type Images struct {
	Other    string                                          // a version that is installed, and not running; "": none
	Running  func(ctx context.Context) (string, error)       // the version that runs
	Activate func(ctx context.Context, version string) error // restarts with a version; it can return before that is over
}

// Defaults, of which the interval is one that real devices keep.
const (
	defaultTimeout = 10 * time.Second
	defaultSample  = time.Second
)

// rule is one thing that a target does.
type rule struct {
	name, says string
	writes     bool
	run        func(ctx context.Context, b *bench) error
}

// rules is the list, in the order in which they are tried. Those named O and S with a number are of published documents
// about optical switches.
func rules() []rule { return slices.Concat(gnmiRules(), ocpRules(), sonicOCSRules(), packetRules()) }

// gnmiRules are of the gNMI specification, and of what a controller relies on.
func gnmiRules() []rule {
	return []rule{
		{"capabilities", "Capabilities names JSON_IETF and the models", false, capabilities},
		{"get-typed", "Get answers in the model's types", false, getTyped},
		{"get-unknown", "Get of an unknown path is UNIMPLEMENTED", false, getUnknown},
		{"get-label", "a prefix's target is a label, which the answer repeats", false, getLabel},
		{"get-origin", "origin openconfig is the default one", false, getOrigin},
		{"get-wildcard", "an element * stands for any name, and ... for any number of levels",
			false, getWildcard},
		{"get-version", "use_models with a version that is not offered is UNIMPLEMENTED", false, getVersion},
		{"get-encoding", "an encoding that is not offered is UNIMPLEMENTED", false, getEncoding},
		{"once", "Subscribe ONCE sends the current state, sync_response, and ends", false, once},
		{"poll", "every poll is answered up to a sync_response", false, poll},
		{"poll-close", "polls are answered though the client has closed its half since, and then the call ends", false,
			pollClose},
		{"poll-updates-only", "with updates_only a poll is answered by sync_response alone", false,
			pollUpdatesOnly},
		{"stream", "a STREAM sends the current state and then one sync_response", false, stream},
		{"subscribe-unknown", "Subscribe to an unknown path is UNIMPLEMENTED", false, subscribeUnknown},
		{"subscribe-history", "a history that is not kept is refused", false, subscribeHistory},
		{"sample", "SAMPLE repeats at its interval", false, sample},
		{"set-unknown", "Set of an unknown path is NOT_FOUND", true, setUnknown},
		{"set-malformed", "a value that is no JSON is INVALID_ARGUMENT", true, setMalformed},
		{"set-wrapped", "a value wrapped in its own name is refused", true, setWrapped},
		{"set-read-only", "Set of state is refused", true, setReadOnly},
		{"set-whole", "a request of which a part is wrong changes nothing", true, setWhole},
		{"delete-absent", "deleting what is not there is silent", true, deleteAbsent},
		{"arbitration", "a smaller election id is PERMISSION_DENIED, an equal one is taken", true, arbitration},
		{"arbitration-id", "master arbitration without an election id is INVALID_ARGUMENT", true, arbitrationID},
		{"rule-made", "a rule that was set is read back, and goes when it is deleted", true, ruleMade},
		{"circuit-made", "a circuit is pending, then connected, and reported on change", true, circuitMade},
		{"circuit-again", "requesting an existing circuit again does nothing", true, circuitAgain},
		{"circuit-undisturbed", "another circuit is not disturbed by a change that does not name it", true,
			circuitUndisturbed},
		{"circuit-busy", "a second circuit for a port that is taken is refused", true, circuitBusy},
	}
}

// bench is the target under test.
type bench struct {
	c       gpb.GNMIClient
	profile gnmi.Profile
	model   *schema.Model
	ports   int32
	sample  time.Duration
	restart func(ctx context.Context, warm bool) error
	lab     Lab
	note    string // what a rule that holds has measured
}

// errSkip is wrapped by a rule that cannot be tried here.
var errSkip = errors.New("not tried")

// Run tries the rules. ports is how many the target has; the profile must be made for as many. ctx
// bounds it all.
func Run(ctx context.Context, conn grpc.ClientConnInterface, p gnmi.Profile, ports int32,
	o Options) []Finding {
	o.Timeout, o.Sample = cmp.Or(o.Timeout, defaultTimeout), cmp.Or(o.Sample, defaultSample)
	b := &bench{c: gpb.NewGNMIClient(conn), profile: p, model: p.Model(), ports: ports, sample: o.Sample,
		restart: o.Restart, lab: o.Lab}
	var out []Finding
	for _, r := range rules() {
		if o.Only != nil && !slices.Contains(o.Only, r.name) {
			continue
		}
		f := Finding{Rule: r.name, Says: r.says, Result: Held}
		err := error(nil)
		b.note = ""
		if r.writes && !o.Write {
			err = fmt.Errorf("%w: it writes", errSkip)
		} else {
			err = b.try(ctx, r, o.Timeout)
		}
		switch {
		case errors.Is(err, errSkip):
			f.Result, f.Why = Skipped, err.Error()
		case err != nil:
			f.Result, f.Why = Broken, err.Error()
		default:
			f.Why = b.note
		}
		out = append(out, f)
	}
	return out
}

func (b *bench) try(ctx context.Context, r rule, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return r.run(ctx, b)
}

func (b *bench) optical() bool {
	switch b.profile.(type) {
	case gnmi.OCP, gnmi.SONiCOCS, gnmi.Polatis:
		return true
	}
	return false
}

func (b *bench) config(ctx context.Context) ([]schema.Leaf, error) {
	return probe.Get(ctx, b.c, b.model, b.profile.ConfigPaths())
}
