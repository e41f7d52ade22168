package circuit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// AuditEvent is one line of the audit log.
type AuditEvent struct {
	At     time.Time `json:"at"`
	User   string    `json:"user"` // who did it
	What   string    `json:"what"` // such as "take", "extend", "wire"
	Device string    `json:"device"`
	Group  string    `json:"group"`
	Detail string    `json:"detail,omitempty"`
}

// AuditLog is where the audit log of a file of leases stands.
func AuditLog(leases string) string { return leases + ".log" }

// Audit appends events to the audit log of a file of leases, a line of JSON each.
func Audit(leases string, events ...AuditEvent) error {
	if len(events) == 0 {
		return nil
	}
	var lines []byte
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("write audit log: %w", err)
		}
		lines = append(append(lines, line...), '\n')
	}
	file, err := os.OpenFile(AuditLog(leases), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	_, err = file.Write(lines) // at once, so that lines of several processes do not mix
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	return nil
}

func (b *LeaseTable) clone() *LeaseTable {
	out := &LeaseTable{Leases: slices.Clone(b.Leases), Waiting: slices.Clone(b.Waiting)}
	for _, list := range [][]Lease{out.Leases, out.Waiting} {
		for i := range list {
			list[i].Inputs, list[i].Outputs = slices.Clone(list[i].Inputs), slices.Clone(list[i].Outputs)
		}
	}
	return out
}

// difference says what has become of leases between two tables.
func difference(before, after *LeaseTable, now time.Time) []AuditEvent {
	find := func(all []Lease, l *Lease) *Lease {
		if i := slices.IndexFunc(all, func(o Lease) bool { return sameGroup(&o, l) }); i >= 0 {
			return &all[i]
		}
		return nil
	}
	var out []AuditEvent
	add := func(what string, l *Lease, detail string) {
		out = append(out, AuditEvent{What: what, Device: l.Device, Group: l.Group, Detail: detail})
	}
	for i := range before.Leases {
		old := &before.Leases[i]
		switch kept := find(after.Leases, old) != nil; {
		case !kept && !now.Before(old.Until):
			add("expire", old, old.text())
		case !kept:
			add("release", old, old.text())
		}
	}
	for i := range after.Leases {
		l := &after.Leases[i]
		changed(find(before.Leases, l), l, add)
	}
	for i := range after.Waiting {
		if l := &after.Waiting[i]; find(before.Waiting, l) == nil {
			add("wait", l, fmt.Sprintf("%s waits for ports %s", l.Holder, PortsText(l.Inputs, l.Outputs)))
		}
	}
	for i := range before.Waiting {
		if l := &before.Waiting[i]; find(after.Waiting, l) == nil {
			add("leave queue", l, l.Holder)
		}
	}
	return out
}

// changed says what is new of a lease; old is nil for one that was not there.
func changed(old, l *Lease, add func(what string, l *Lease, detail string)) {
	switch {
	case old == nil:
		add("take", l, fmt.Sprintf("ports %s, %s", PortsText(l.Inputs, l.Outputs), l.text()))
		return
	case old.Holder != l.Holder:
		add("hand over", l, "from "+old.Holder+" to "+l.Holder)
	case !old.Until.Equal(l.Until):
		add("extend", l, "until "+l.Until.Format(time.RFC3339))
	}
	if !slices.Equal(old.Inputs, l.Inputs) || !slices.Equal(old.Outputs, l.Outputs) {
		add("change ports", l, "ports "+PortsText(l.Inputs, l.Outputs))
	}
}
