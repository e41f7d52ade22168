package gnmi

import (
	"bytes"
	"strings"
	"sync"
	"sync/atomic"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
)

// bareness is what a session knows of whether its device has no rules. It is safe for several goroutines.
type bareness struct {
	mu     sync.Mutex
	fenced bool // the device refuses changes of older leaders
	sets   int  // changes sent
	listed int  // answers that listed rules
	bare   bool // a read found no rule; it began after the device was claimed, and no change has been sent since

	changes *Changes // Config.Changes
}

// Changes knows whether a device may still make a change that was sent to it. Sessions that follow each other at one
// device share it: the answer to an earlier one's change says nothing of a later one.
type Changes struct{ sent, accepted atomic.Int64 }

// open reports whether no answer has come to the change that was sent last.
func (c *Changes) open() bool { return c.accepted.Load() != c.sent.Load() }

// claimed notes how a claim ended.
func (b *bareness) claimed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fenced, b.bare = err == nil, false
}

// sent notes that a change goes out, and returns its number, and whether it finds no rule there.
func (b *bareness) sent() (number int64, bare bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	bare, b.bare = b.bare, false
	b.sets++
	return b.changes.sent.Add(1), bare
}

// accepted notes that a change has been made.
func (b *bareness) accepted(number int64) { b.changes.accepted.Store(number) }

// reading returns what ends a read that begins now.
func (b *bareness) reading() (done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	settled, sets, listed := b.fenced && !b.changes.open(), b.sets, b.listed
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.bare = settled && b.fenced && b.sets == sets && b.listed == listed
	}
}

// look looks for rules in a part of an answer. Our model need not know anything of a rule: an entry of a list has its
// key, in its path or in its value.
func (b *bareness) look(n *gpb.Notification) {
	if !listsRules(n) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listed++
	b.bare = false
}

func listsRules(n *gpb.Notification) bool {
	const key = "sequence-id"
	named := func(p *gpb.Path) bool {
		for _, e := range p.GetElem() {
			for name := range e.GetKey() {
				if strings.HasSuffix(name, key) { // devices put a module's prefix before it
					return true
				}
			}
		}
		return false
	}
	for _, u := range n.GetUpdate() {
		v := u.GetVal()
		if named(u.GetPath()) || bytes.Contains(v.GetJsonIetfVal(), []byte(key)) ||
			bytes.Contains(v.GetJsonVal(), []byte(key)) {
			return true
		}
	}
	return named(n.GetPrefix()) && len(n.GetUpdate()) > 0
}
