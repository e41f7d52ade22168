package server

import (
	"cmp"
	"context"
	"os"
	"time"

	"lightloom/controller"
	"lightloom/controller/leader"
	"lightloom/controller/state"
)

// Limits of a policy that does not answer: of its call, and of the entry that bars it then.
const (
	decideWithin = 30 * time.Second
	barWithin    = 3 * time.Second
)

// watchdog bars a policy that fails: the one before it decides, else the one that replicas were started
// with, else the plainest.
func (p *replicaProcess) watchdog(ctx context.Context, term uint64) leader.Watchdog {
	return leader.Watchdog{Limit: decideWithin, Bar: p.bar,
		Stalled: func(next controller.FabricChange, ok bool) {
			p.stalled(ctx, term, next, ok)
			os.Exit(1) // whoever supervises it starts it again; nothing else ends a call of the policy
		}}
}

func (p *replicaProcess) bar(now controller.FabricChange, why string) (controller.FabricChange, bool) {
	return now.Bar(cmp.Or(now.Policy, p.config.Policy), p.config.Policy, why, now.Previous, "", "fair")
}

// stalled has the other replicas know that a policy is barred. It is not applied here: the policy's
// call holds the state.
func (p *replicaProcess) stalled(ctx context.Context, term uint64, next controller.FabricChange, ok bool) {
	p.notice.Error("the policy stalls: this replica ends", "failure", next.Failure, "next", next.Policy)
	if !ok || p.state.Counts().Level < state.FabricChanged.Level() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, barWithin)
	defer cancel()
	_ = p.append(ctx, term, state.Entry{Kind: state.FabricChanged, At: p.clock.now(),
		Cluster: &state.Cluster{Fabric: &next}}) // it waits in vain for being applied here
}
