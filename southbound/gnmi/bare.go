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

	open *atomic.Bool // Config.Open: the device may still make a change, and none has been accepted since it was sent
}

// claimed notes how a claim ended.
func (b *bareness) claimed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fenced, b.bare = err == nil, false
}

// sent notes that a change goes out, and reports whether it finds no rule there.
func (b *bareness) sent() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.bare
	b.bare = false
	b.open.Store(true)
	b.sets++
	return was
}

// accepted notes that the change which was sent last has been made.
func (b *bareness) accepted() { b.open.Store(false) }

// reading returns what ends a read that begins now.
func (b *bareness) reading() (done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	settled, sets, listed := b.fenced && !b.open.Load(), b.sets, b.listed
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
