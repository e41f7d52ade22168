package controller

// Capabilities are what a policy can do, and what it requires of its caller. The zero value describes a
// packet policy that reads all of its view.
type Capabilities struct {
	Circuits    bool // it sets up circuits
	Wavelengths bool // it gives a rack as many circuits as it has wavelengths and parallel OCSes, not one
	Migrates    bool // it can move tasks of running jobs
	Relays      bool // it needs racks that relay bytes for each other (southbound.Relayer)
	Priorities  bool // it gives coflows strict priorities, for which switches need queues
	Multihop    bool // it has packets take several circuits in a row, and packets and circuits
	Simulated   bool // its rules need a simulator's time steps: only ours has them
	Blind       bool // it reads nothing of what coflows have left
	Totals      bool // of what coflows have left, it reads only the total
	Brief       bool // of what coflows have left, it reads what a brief one leaves out only after View.Complete
	Late        bool // it reads what coflows have left only after View.ReadRemaining; of a policy, not of its parts
}

// With returns the capabilities of two parts together.
func (c Capabilities) With(o Capabilities) Capabilities {
	return Capabilities{
		Circuits:    c.Circuits || o.Circuits,
		Wavelengths: c.Wavelengths || o.Wavelengths,
		Migrates:    c.Migrates || o.Migrates,
		Relays:      c.Relays || o.Relays,
		Priorities:  c.Priorities || o.Priorities,
		Multihop:    c.Multihop || o.Multihop,
		Simulated:   c.Simulated || o.Simulated,
		Blind:       c.Blind && o.Blind,
		Brief:       (c.Blind || c.Brief) && (o.Blind || o.Brief) && !(c.Blind && o.Blind),
		Totals:      (c.Blind || c.Totals) && (o.Blind || o.Totals) && !(c.Blind && o.Blind),
	}
}
