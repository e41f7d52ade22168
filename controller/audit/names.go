package audit

import (
	"fmt"
	"strconv"
)

// Names is what findings call switches and ends. The zero value numbers ports and leaves ends as LLDP has them.
type Names struct {
	Switches []string         // by switch, in the order of NewWalk
	End      func(End) string // nil: End.String
}

// Name has findings call things so.
func (w *Walk) Name(n Names) { w.names = n }

func (n Names) end(e End) string {
	if n.End == nil || e.IsZero() {
		return e.String()
	}
	return n.End(e)
}

// portName is what a port is called, by its number among those of all switches.
func (w *Walk) portName(p int) string {
	if w.names.Switches == nil {
		return strconv.Itoa(p)
	}
	return fmt.Sprintf("%s:%d", w.names.Switches[w.own[p].number], p-w.own[p].first)
}

// locate gives a finding the numbers that the switches themselves have for their ports.
func (w *Walk) locate(f *Finding) {
	if w.names.Switches == nil {
		return
	}
	of, with := w.own[f.Port], f.With
	f.Switch, f.Port = w.names.Switches[of.number], f.Port-of.first
	if with < 0 {
		return
	}
	other := w.own[with]
	if f.With = with - other.first; other.number != of.number {
		f.OnSwitch = w.names.Switches[other.number]
	}
}
