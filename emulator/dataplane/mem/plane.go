// Package mem is a dataplane in memory: the same tables, lights and dark times as in the kernel, asked
// packet by packet or flow by flow. The simulator walks it, and tests hold the kernel's dataplanes
// against it.
//
// It moves no packet itself and has no queues.
package mem

import (
	"sync"
	"time"

	"lightloom/southbound"
)

// Plane is Tables that are safe for several goroutines.
type Plane struct {
	mu     sync.RWMutex
	tables *Tables
}

// New makes the plane of a switch as NewTables does.
func New(ports int32, clock func() time.Duration) *Plane {
	return &Plane{tables: NewTables(ports, clock)}
}

// SetRules implements device.Plane.
func (p *Plane) SetRules(set []southbound.Rule, drop []southbound.Match, replace bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tables.SetRules(set, drop, replace)
}

// SetLight implements device.Plane.
func (p *Plane) SetLight(port southbound.Port, lit bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tables.SetLight(port, lit)
}

// Move implements device.Plane.
func (p *Plane) Move(off []southbound.Port, on []southbound.CrossConnect, dark time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tables.Move(off, on, dark)
}

// Dropped implements device.Plane.
func (p *Plane) Dropped() (uint64, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.tables.Dropped()
}

// Drop is Tables.Drop.
func (p *Plane) Drop(n uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tables.Drop(n)
}

// Lookup is Tables.Lookup.
func (p *Plane) Lookup(dst, src southbound.RackID, tag southbound.Tag) (southbound.Port, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.tables.Lookup(dst, src, tag)
}

// Cross is Tables.Cross.
func (p *Plane) Cross(now time.Duration, in southbound.Port) (southbound.Port, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.tables.Cross(now, in)
}

// LitAfter is Tables.LitAfter.
func (p *Plane) LitAfter(in southbound.Port) (out southbound.Port, at time.Duration, ok bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.tables.LitAfter(in)
}

// Generation is Tables.Generation.
func (p *Plane) Generation() uint64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.tables.Generation()
}
