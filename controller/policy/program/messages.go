package program

import (
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Version is the version of these messages.
const Version = 1

// Hello is the first line that a program reads. It answers with an Echo.
type Hello struct {
	Version  int    `json:"lightloom"`
	Question string `json:"question"` // place, circuits, route or share
	Seed     uint64 `json:"seed"`     // of the run: draw random numbers from it
	Fabric   Fabric `json:"fabric"`
}

// Echo is the first line that a program writes.
type Echo struct {
	Version int `json:"lightloom"`
}

// Fabric is what a program is told of the network. Rates are layer-2 bits a second.
type Fabric struct {
	Racks    int     `json:"racks"`
	HostRack []int32 `json:"host_rack"` // by host
	Slots    int     `json:"slots"`     // of a host
	Links    []Link  `json:"links"`     // by number: both directions of a cable are links of their own
	OCSPorts int     `json:"ocs_ports"` // 0: there is no optical switch
	// rate of each ToR–OCS link
	OCSRate pathmap.BitsPerSecond `json:"ocs_bps"`
}

// Link is one direction of a cable between two nodes of the network, which are numbered; hosts are among them.
type Link struct {
	From int32                 `json:"from"`
	To   int32                 `json:"to"`
	Rate pathmap.BitsPerSecond `json:"bps"` // 0: it has been pulled out
}

func describe(f *topo.Fabric) Fabric {
	d := Fabric{Racks: f.Racks, HostRack: f.HostRack, Slots: f.Spec.WithDefaults().Slots,
		OCSPorts: f.OCSPorts()}
	for i := range f.Topology.Links() {
		l := f.Topology.Link(pathmap.LinkID(i))
		if f.Topology.Unplugged(pathmap.LinkID(i)) {
			l.Capacity = 0
		}
		d.Links = append(d.Links, Link{int32(l.From), int32(l.To), l.Capacity})
	}
	if f.HasOCS() {
		d.OCSRate = f.Spec.OCS
	}
	return d
}

// Question asks for one decision. Which fields it has depends on Hello.Question.
type Question struct {
	Now time.Duration `json:"now_ns"` // since the run began

	// place
	Jobs []*controller.Job  `json:"jobs,omitempty"` // that wait since the last question
	Gone []controller.JobID `json:"gone,omitempty"` // no longer waiting, though the program has not placed them
	Free []FreeSlots        `json:"free,omitempty"` // hosts whose free slots have changed
	// route
	Paths []PairPaths `json:"paths,omitempty"` // of rack pairs whose paths are new or have changed
	Rows  []Row       `json:"rows,omitempty"`  // to be routed
	// share
	Coflows []Coflow              `json:"coflows,omitempty"` // that have started since the last question
	Ended   []southbound.CoflowID `json:"ended,omitempty"`
	Left    []Left                `json:"left,omitempty"` // of coflows whose bytes left have changed
	// circuits
	Demand   []Demand                        `json:"demand,omitempty"`   // all that circuits could carry
	Reserved []controller.CircuitReservation `json:"reserved,omitempty"` // all that stand
	Delta    time.Duration                   `json:"delta_ns,omitempty"` // reconfiguration delay
}

// FreeSlots is how many slots of a host are free.
type FreeSlots struct {
	Host  southbound.HostID `json:"host"`
	Slots int32             `json:"slots"`
}

// PairPaths are the paths from one rack to another that a row may take.
type PairPaths struct {
	From  southbound.RackID `json:"from"`
	To    southbound.RackID `json:"to"`
	Paths []Path            `json:"paths"` // shortest first
}

// Path is one path by its number, and the links between the two ToRs.
type Path struct {
	Number int              `json:"path"`
	Links  []pathmap.LinkID `json:"links"`
}

// Row is all that a coflow sends from one host to another.
type Row struct {
	Coflow southbound.CoflowID `json:"coflow"`
	Src    southbound.HostID   `json:"src"`
	Dst    southbound.HostID   `json:"dst"`
}

// Coflow is a coflow that has started. Its rows are by source, destination and bytes of payload.
type Coflow struct {
	ID       southbound.CoflowID `json:"coflow"`
	Job      controller.JobID    `json:"job"`
	Arrival  time.Duration       `json:"arrival_ns"` // its job's
	Weight   float64             `json:"weight"`
	Deadline time.Duration       `json:"deadline_ns,omitempty"`
	Src      []southbound.HostID `json:"src"`
	Dst      []southbound.HostID `json:"dst"`
	Bytes    []pathmap.Bytes     `json:"bytes"`
}

// Left is the payload that a coflow has left, by row.
type Left struct {
	Coflow southbound.CoflowID `json:"coflow"`
	Bytes  []pathmap.Bytes     `json:"bytes"`
}

// Demand is what a coflow has left for circuits: bytes of payload from one port of the optical switch to another. An
// estimate of traffic is a Demand of coflow −1.
type Demand struct {
	Coflow southbound.CoflowID `json:"coflow"`
	Pairs  []DemandPair        `json:"pairs"`
}

// DemandPair is what racks have for each other.
type DemandPair struct {
	In    southbound.Port `json:"in"`
	Out   southbound.Port `json:"out"`
	Bytes pathmap.Bytes   `json:"bytes"`
}

// Answer is a program's answer to one Question. Which fields it has depends on Hello.Question.
type Answer struct {
	Place []controller.Placement `json:"place,omitempty"` // jobs left out wait

	Route []int `json:"route,omitempty"` // a path's number by row of Question.Rows

	Order []southbound.CoflowID `json:"order,omitempty"` // served in this order; those left out come last, by number

	Withdraw []southbound.CoflowID           `json:"withdraw,omitempty"` // reservations of these that have not begun go
	Preempt  []southbound.Port               `json:"preempt,omitempty"`  // reservations of these inputs end now
	Reserve  []controller.CircuitReservation `json:"reserve,omitempty"`

	Wake time.Duration `json:"wake_ns,omitempty"` // ask again then at the latest; 0: no wish
}
