package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lightloom/controller/replica"
	"lightloom/controller/replica/rollcall"
	"lightloom/southbound/durable"
	"lightloom/southbound/hint"
)

// trustFile is where an operator names the start of a replica whose disk he vouches for.
const trustFile = "trust"

// Trust has the replica that runs on a state directory take part at once that waits for others or
// learns: its operator vouches for its disk. The replica takes that in within a second. A later start
// asks again.
func Trust(dir string) error {
	n, err := ReadNode(dir)
	if err != nil {
		return missing(dir, "name the directory that replica.yaml has under state:", err)
	}
	release, err := hold(dir, 1)
	if err == nil {
		return errors.Join(hint.New(fmt.Sprintf("trust disk: no replica runs on %q", dir), "start "+n.Replica+
			" first: it is trusted for one start"), release())
	}
	start, err := replica.ReadStarted(dir)
	if err == nil {
		err = durable.Replace(filepath.Join(dir, trustFile), []byte(start+"\n"), true)
	}
	if err != nil {
		return fmt.Errorf("trust disk: %w", err)
	}
	return nil
}

// waitsLong is after what time a replica that waits says so.
const waitsLong = 2 * time.Second

// logStanding says what this replica waits for, once it has for some time. said is what was said last,
// since when.
func (p *replicaProcess) logStanding(said string, since time.Time) (string, time.Time) {
	s, why := p.node.Standing()
	switch now := string(s) + ": " + why; {
	case s == rollcall.Voting:
		return "", time.Now()
	case now == said || time.Since(since) < waitsLong:
		return said, since
	default:
		p.notice.Warn("this replica has no vote yet", "it is", s, "why", why, "to vouch for its disk",
			"lightloom cluster trust "+p.config.Dir)
		return now, since
	}
}

// heedTrust takes the word of an operator, if there is one for this start.
func (p *replicaProcess) heedTrust() error {
	path := filepath.Join(p.config.Dir, trustFile)
	word, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if s, why := p.node.Standing(); err == nil && strings.TrimSpace(string(word)) == p.node.Started() {
		p.notice.Warn("this replica takes part, as its operator vouches for its disk", "it was", s, "why", why)
		p.node.Trust()
	}
	return errors.Join(err, os.Remove(path))
}

// learns reports whether the replica's log is of the past: it joins, or its disk has gone back in time.
func (p *replicaProcess) learns() bool {
	s, _ := p.node.Standing()
	return s == rollcall.Learning || p.home.joining()
}

// standing is what a replica tells of how far it takes part.
func (p *replicaProcess) standing() (standing, why string, troubles []string) {
	s, why := p.node.Standing()
	for _, t := range p.node.Troubles() {
		troubles = append(troubles, t.Text)
	}
	return string(s), why, troubles
}

// A leader has all replicas compare their states so often, if there are new entries, and at that
// feature level: earlier versions take its digest for an entry that they cannot read.
const (
	compareEvery = 10 * time.Second
	compareLevel = 6
)

// partsLevel is the feature level from which on large entries go in parts.
const partsLevel = 7

// compare has all replicas compare their states with this leader's again and again, until ctx ends.
func (p *replicaProcess) compare(ctx context.Context, term uint64) {
	tick := time.NewTicker(compareEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if p.state.Counts().Level < compareLevel || p.node.Applied() <= p.node.Compared() {
			continue
		}
		if err := p.node.AppendDigest(ctx, term); err != nil && ctx.Err() == nil {
			p.log.Warn("compare replicas", "error", err)
		}
	}
}

// apartError says what to do with a replica whose state is another than the leader's.
func apartError(dir, id string, err error) error {
	return hint.Wrap(fmt.Errorf("replica %q has stopped: %w", id, err),
		"if it is the one that differs, type: lightloom "+
			"cluster destroy "+dir+" --yes, then: lightloom cluster join")
}
