package slicing

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lightloom/cmd/lightloom-kube/northbound"
)

// World is what there is at one instant. Nothing of it is changed.
type World struct {
	Now     time.Time
	Slices  []*Slice
	Hosts   []northbound.Host
	There   []northbound.Slice // the controller's
	Owner   string             // of our slices
	Refused map[string]Refusal // requests that the controller refused, by the slice's name
	Unread  []types.UID        // of Slices that are there and cannot be read
}

// Refusal is what the controller has said to a request that it refused, and when.
type Refusal struct {
	Message string
	At      time.Time
}

// again is when a request that was refused is made again: keys and tenants can have changed.
const again = time.Minute

// Plan is what is to be done, in the order of its fields.
type Plan struct {
	Hold    []*Slice             // that get the finalizer
	Free    []string             // slices of Slices that go
	Let     []*Slice             // that lose the finalizer
	Ask     []northbound.Request // slices
	Say     []Word
	Orphans []string // slices whose Slices are not there: perhaps not yet
}

// Word is the conditions that a Slice is to have.
type Word struct {
	Slice      *Slice
	Conditions []metav1.Condition
}

// Decide returns what is due.
func Decide(w *World) *Plan {
	p, there, known := &Plan{}, map[string]*northbound.Slice{}, map[string]bool{}
	for i := range w.There {
		if x := &w.There[i]; Is(x.Name) {
			there[x.Name] = x
		}
	}
	all := slices.SortedFunc(slices.Values(w.Slices), func(a, b *Slice) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
	})
	for _, uid := range w.Unread {
		known[Name(uid)] = true
	}
	for _, s := range all {
		known[Name(s.UID)] = true
		w.serve(p, s, there[Name(s.UID)])
	}
	for _, x := range w.There {
		if x.Owner == w.Owner && there[x.Name] != nil && !known[x.Name] {
			p.Orphans = append(p.Orphans, x.Name)
		}
	}
	return p
}

// serve decides about one Slice, and its slice if that is there.
func (w *World) serve(p *Plan, s *Slice, has *northbound.Slice) {
	held := slices.Contains(s.Finalizers, Finalizer)
	switch {
	case s.DeletionTimestamp != nil && !held:
	case has != nil && has.Owner != w.Owner && held:
		reason := CreationFailed
		if s.DeletionTimestamp != nil {
			reason = Deactivating
		}
		w.say(p, s, reason, OfOthers, fmt.Sprintf("slice %s is of owner %.40q: end it, or write that --owner", has.Name,
			has.Owner))
	case s.DeletionTimestamp != nil && has != nil:
		p.Free = append(p.Free, has.Name)
		w.say(p, s, Deactivating, Deactivating, "its circuits are freed")
	case s.DeletionTimestamp != nil:
		p.Let = append(p.Let, s)
	case !held:
		p.Hold = append(p.Hold, s)
	case has != nil:
		reason := state(has.State)
		w.say(p, s, reason, cmp.Or(has.Reason, reason), cmp.Or(has.Message, "slice "+has.Name+" is "+has.State))
	default:
		w.ask(p, s)
	}
}

// ask asks for a slice, again after a while where that was refused.
func (w *World) ask(p *Plan, s *Slice) {
	r, err := request(s, w.Owner, w.Hosts)
	refused, is := w.Refused[r.Name]
	if err == nil && (!is || w.Now.Sub(refused.At) >= again) {
		p.Ask = append(p.Ask, r)
	}
	switch {
	case err != nil:
		w.say(p, s, CreationFailed, CreationFailed, err.Error())
	case is:
		w.say(p, s, CreationFailed, CreationFailed, refused.Message)
	default:
		w.say(p, s, NotCreated, NotCreated, "it is asked for")
	}
}

// state returns the public reason for a state of a slice.
func state(of string) string {
	switch of {
	case "Activating":
		return Activating
	case northbound.Ready:
		return Active
	case "Incomplete":
		return Incomplete
	case northbound.Failed:
		return Failed
	}
	return NotCreated
}

// longest bounds a message, in bytes. API servers refuse those of 32 KiB.
const longest = 2000

// say has a Slice get both conditions, unless it has them already.
func (w *World) say(p *Plan, s *Slice, reason, own, message string) {
	message = message[:min(len(message), longest)]
	status := metav1.ConditionFalse
	if reason == Active {
		status = metav1.ConditionTrue
	}
	out := slices.DeleteFunc(slices.Clone(s.Status.Conditions), func(c metav1.Condition) bool {
		return c.Type == Ready || c.Type == Lit
	})
	others := len(out)
	out = append(out, metav1.Condition{Type: Ready, Reason: reason}, metav1.Condition{Type: Lit, Reason: own})
	changed := false
	for i := range out[others:] {
		c := &out[others+i]
		c.Status, c.Message, c.ObservedGeneration = status, message, s.Generation
		c.LastTransitionTime = metav1.NewTime(w.Now)
		k := slices.IndexFunc(s.Status.Conditions, func(had metav1.Condition) bool { return had.Type == c.Type })
		if k < 0 {
			changed = true
			continue
		}
		had := s.Status.Conditions[k]
		if had.Status == c.Status {
			c.LastTransitionTime = had.LastTransitionTime
		}
		changed = changed || had.Status != c.Status || had.Reason != c.Reason || had.Message != c.Message ||
			had.ObservedGeneration != c.ObservedGeneration
	}
	if changed {
		p.Say = append(p.Say, Word{s, out})
	}
}
