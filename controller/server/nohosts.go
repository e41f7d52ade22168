package server

import (
	"context"
	"errors"

	"lightloom/southbound"
)

// noAgent is a fabric whose hosts have no agent: switches are programmed, and no job can be run.
type noAgent struct{}

// ErrNoAgent means that jobs need hosts with an agent.
var ErrNoAgent = errors.New("the hosts of this fabric have no agent, so that no job can be run: list the namespaces " +
	"of hosts beside the devices")

func (noAgent) Run([]southbound.Task) error { return ErrNoAgent }

func (noAgent) Start([]southbound.Start) error { return ErrNoAgent }

func (noAgent) Steer([]southbound.Steer) error { return ErrNoAgent }

func (noAgent) SetRates(*southbound.Rates) error { return nil }

func (noAgent) Ack(uint64) error { return nil }

func (noAgent) Remaining(southbound.CoflowID) (southbound.Remaining, bool) {
	return southbound.Remaining{}, false
}

func (noAgent) Events(ctx context.Context, _ uint64, _ func(uint64, southbound.Event)) error {
	<-ctx.Done()
	return nil
}
