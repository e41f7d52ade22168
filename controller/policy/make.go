package policy

import (
	"cmp"
	"math/rand/v2"

	"lightloom/controller/anneal"
	"lightloom/controller/certified"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/joint"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/pushbox"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/controller/policy/sunflowsim"
)

// maker makes the parts of an entry, one for each of its questions. No two policies share what it makes.
type maker func(Options) []Part

// explainer is a Part that can explain where tasks and host flows go.
type explainer interface{ Tell(route.Explainer) }

// explained has parts report their reasons to o.Explain, where they can; nil disables explanations.
func explained(o Options, parts ...Part) []Part {
	for _, p := range parts {
		if t, ok := p.(explainer); ok {
			t.Tell(o.Explain)
		}
	}
	return parts
}

// value is of a part without state.
func value(p Part) maker { return func(Options) []Part { return []Part{p} } }

// made is of a part that a function makes.
func made[P Part](f func() P) maker { return func(Options) []Part { return []Part{f()} } }

// fresh is of a part that begins as a copy of another.
func fresh[T any, P interface {
	*T
	Part
}](of T) maker {
	return func(o Options) []Part {
		own := of
		return explained(o, P(&own))
	}
}

func sunflow(of circuits.Sunflow) maker {
	return func(Options) []Part { return []Part{of.Remembering()} }
}

func edmonds(of circuits.Epochs) maker {
	return func(o Options) []Part {
		own := of
		own.Slot = o.EdmondsSlot
		return []Part{own}
	}
}

func sunflowsimEdmonds(o Options) []Part {
	return []Part{sunflowsim.NewEdmonds(cmp.Or(o.EdmondsSlot, sunflowsim.EdmondsSlot))}
}

func coflowsim(rule string) maker {
	return func(Options) []Part { return []Part{share.NewCoflowsim(rule)} }
}

// packer gives slots by a rule.
func packer(rule pushbox.Rule, fifo func(user string) bool) maker {
	return func(o Options) []Part { return explained(o, place.NewPacker(rule, fifo)) }
}

// neat gives slots by NEAT, for a network that shares in that way.
func neat(n pushbox.Network, fifo func(user string) bool) maker {
	return func(o Options) []Part {
		k := place.NewPacker(pushbox.NEAT, fifo)
		k.Network = n
		return explained(o, k)
	}
}

// pushBox gives slots and priorities by an intent.
func pushBox(intent share.Intent) maker {
	return func(o Options) []Part {
		return explained(o, place.NewPacker(pushbox.PushBox, intent.Ordered), &share.Priority{Intent: intent})
	}
}

// proven is of a part that routes, and proves how well.
func proven(by route.Router, byCoflow bool) maker {
	return certifiedAs(route.Certified{Router: by, ByCoflow: byCoflow})
}

// anew is proven for coflows under way, too.
func anew(by route.Router, byCoflow bool) maker {
	return certifiedAs(route.Certified{Router: by, ByCoflow: byCoflow, Anew: true})
}

func certifiedAs(of route.Certified) maker {
	return func(o Options) []Part {
		r := of
		r.Tell(o.Explain.And(o.Prove))
		return []Part{&r}
	}
}

func crossLayer(opt anneal.Options) maker {
	return func(o Options) []Part {
		p, r := joint.NewCrossLayer(opt)
		p.Migrate(o.Migrate)
		return explained(o, p, r)
	}
}

func jointly(o Options) []Part {
	p, c, r := joint.NewJoint(anneal.Options{})
	return explained(o, p, c, r)
}

func separate(o Options) []Part {
	p, c, r := joint.NewApart(anneal.Options{})
	return explained(o, p, c, r)
}

// The placers that draw nothing.
func tapra(t *certified.Tasks, e certified.Effort, _ *rand.Rand) (*certified.Placed, error) {
	return certified.TaPRA(t, e)
}

func tapraFast(t *certified.Tasks, e certified.Effort, _ *rand.Rand) (*certified.Placed, error) {
	return certified.TaPRAFast(t, e)
}

func minMin(t *certified.Tasks, _ certified.Effort, _ *rand.Rand) (*certified.Placed, error) {
	return certified.MinMin(t, certified.Proportional)
}
