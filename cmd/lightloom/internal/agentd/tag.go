package agentd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"lightloom/southbound/hint"
	"lightloom/southbound/marking"
)

// TagOptions are the options of the command agent tag.
type TagOptions struct {
	Rules []marking.Rule // what to do until the end; empty: what File says, as it changes
	File  string

	Stdout, Stderr io.Writer
}

// Tag marks packets of other processes until ctx ends; then it says how many, and returns nil.
func Tag(ctx context.Context, opt TagOptions) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("agent tag: %w", err)
		}
	}()
	file := &marking.File{Path: opt.File}
	if opt.File != "" {
		if err := file.Read(); err != nil {
			return hint.Wrong(err)
		}
	}
	m, err := marking.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if opt.File != "" {
		_ = file.Set(m) // before it says that it does; what is wrong with a rule Keep says
		fmt.Fprintf(opt.Stdout, "marks packets as %s says, until Ctrl-C\n", opt.File)
		file.Keep(ctx, m, marking.DefaultEvery, tagLog(opt.Stderr))
		return nil
	}
	if err := m.Set(opt.Rules); err != nil {
		return hint.Wrong(err)
	}
	for _, r := range opt.Rules {
		fmt.Fprintf(opt.Stdout, "packets of %s to %v carry DSCP %d, until Ctrl-C\n", r.Cgroup, r.To, r.DSCP)
	}
	<-ctx.Done()
	n, err := m.Marked(opt.Rules)
	for i := range n {
		fmt.Fprintf(opt.Stdout, "%d packets marked\n", n[i])
	}
	return err
}

func tagLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// tags keeps the rules of a file beside an agent, which marks its own packets. keep ends with its context.
func (o *AgentOptions) tags() (keep func(context.Context) error, err error) {
	if o.Tags == "" {
		return nil, nil
	}
	file := &marking.File{Path: o.Tags, Spare: true}
	if err := file.Read(); err != nil {
		return nil, hint.Wrong(err)
	}
	m, err := marking.Open()
	if err != nil {
		return nil, err
	}
	// Who sees the agent listen finds packets marked. What is wrong with a rule Keep says, for it tries again.
	_ = file.Set(m)
	return func(ctx context.Context) error {
		file.Keep(ctx, m, marking.DefaultEvery, tagLog(o.Stderr))
		return m.Close()
	}, nil
}
