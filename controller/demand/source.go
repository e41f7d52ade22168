package demand

import (
	"fmt"
	"strings"
	"time"

	"lightloom/pathmap"
)

// Source is where circuit policies know traffic from.
type Source string

// The sources. The empty one is the oracle.
const (
	FromOracle   Source = "oracle"   // the trace: what every coflow has left
	FromCounters Source = "counters" // what has been sent between two readings, as Helios
	FromBacklog  Source = "backlog"  // what waits in hosts' sockets, as c-Through
)

// Sources returns all of them, the default first.
func Sources() []Source { return []Source{FromOracle, FromCounters, FromBacklog} }

// Options configure an estimate. The zero value is the oracle.
type Options struct {
	Source Source        `json:"source,omitempty"`
	Period time.Duration `json:"period_ns,omitempty"` // between two readings; 0: DefaultPeriod
	// Buffer is what a socket holds, where backlog is read; 0: SocketBuffer, or the elephant threshold where that is more,
	// for c-Through makes sockets large enough for elephants to show.
	Buffer pathmap.Bytes `json:"buffer,omitempty"`
	// Least is what a pair of hosts has to send to count as an elephant, where counters are read; 0: LeastRate.
	Least pathmap.BitsPerSecond `json:"least,omitempty"`
}

const (
	// DefaultPeriod is the time between two readings: between Helios' 100 ms and the second of c-Through.
	DefaultPeriod = 250 * time.Millisecond
	// MinPeriod is the shortest period.
	MinPeriod = 10 * time.Millisecond
	// MaxPeriod is the longest.
	MaxPeriod = time.Minute
	// SocketBuffer is how much of a host flow its host's socket holds, and so shows: 80 ms at 1 Gb/s. Our choice; the
	// larger it is, the more an application must have written before it is sent.
	SocketBuffer = pathmap.Bytes(10e6)
	// LeastRate is Helios' limit of an elephant (section 4.2 of its paper).
	LeastRate = 15 * pathmap.Mbps
)

// aheadPeriods is for how many periods a reading of counters is taken to hold: until the next one is acted upon.
const aheadPeriods = 2

// Oracle reports whether demand is exact and not estimated.
func (o *Options) Oracle() bool { return o.Source == "" || o.Source == FromOracle }

// WithDefaults returns the options with every field that is left open filled in.
func (o Options) WithDefaults() Options {
	if o.Source == "" {
		o.Source = FromOracle
	}
	if o.Period == 0 {
		o.Period = DefaultPeriod
	}
	if o.Least == 0 {
		o.Least = LeastRate
	}
	return o
}

// Check returns what is wrong with the options, or nil.
func (o Options) Check() error {
	o = o.WithDefaults()
	var known []string
	for _, s := range Sources() {
		if known = append(known, string(s)); s == o.Source {
			known = nil
			break
		}
	}
	switch {
	case known != nil:
		return fmt.Errorf("demand from %q: take %s", o.Source, strings.Join(known, ", "))
	case o.Period < MinPeriod || o.Period > MaxPeriod:
		return fmt.Errorf("demand read every %v: take %v to %v", o.Period, MinPeriod, MaxPeriod)
	case o.Buffer < 0 || o.Least < 0:
		return fmt.Errorf("demand with sockets of %d bytes and elephants from %v: take what is above zero", o.Buffer, o.Least)
	}
	return nil
}

// String describes the options in words.
func (o Options) String() string {
	o = o.WithDefaults()
	switch o.Source {
	case FromCounters:
		return fmt.Sprintf("counters, read every %v: max-min fair rates of the pairs of hosts that send at least %v, taken "+
			"to last %v",
			o.Period, o.Least, aheadPeriods*o.Period)
	case FromBacklog:
		holds := "a socket that holds an elephant, and 10 MB at least"
		if o.Buffer > 0 {
			holds = fmt.Sprintf("a socket of %d bytes", int64(o.Buffer))
		}
		return fmt.Sprintf("backlog, read every %v: of each host flow at most what is in %s", o.Period, holds)
	}
	return "oracle: what every coflow has left"
}
