package server

import (
	"context"
	"errors"
	"fmt"

	"lightloom/controller/api"
	"lightloom/controller/replica"
)

// ReadIndex implements api.Indexer.
func (p *replicaProcess) ReadIndex(ctx context.Context) (uint64, error) {
	index, err := p.node.ReadIndex(ctx)
	switch {
	case errors.Is(err, replica.ErrNotLeader):
		return 0, fmt.Errorf("%w: %w", api.ErrNotLeader, err)
	case errors.Is(err, replica.ErrUncertain):
		return 0, fmt.Errorf("%w: %w", api.ErrUncertain, err)
	}
	return index, err
}

// WaitApplied implements api.Indexer.
func (p *replicaProcess) WaitApplied(ctx context.Context, index uint64) error {
	return p.node.WaitApplied(ctx, index)
}

// Applied implements api.Indexer.
func (p *replicaProcess) Applied() (index uint64) {
	p.node.View(func(at uint64) { index = at })
	return index
}
