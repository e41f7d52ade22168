package hostagent

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// Network runs a function where a host's sockets are made: on netns a locked section of one thread
// inside the host's network namespace. A socket belongs for life to where it was made, so sections are
// short.
type Network interface {
	// InHost calls f once, in h, and returns its error or the reason why h could not be entered. It can be
	// called by several goroutines.
	InHost(h southbound.HostID, f func() error) error
}

// DataPort is where agents listen for host flows unless a configuration says otherwise.
const DataPort = 7471

// Config describes the hosts of an agent and how they reach each other.
type Config struct {
	// Hosts of the whole fabric, until SetNetwork: ids are 0 to Hosts-1. With Names it can be 0.
	Hosts int
	// Local selects the hosts that this agent serves; nil means all.
	Local func(southbound.HostID) bool
	// Names are those of the hosts that this agent serves: SetNetwork tells their numbers. Empty: as Local
	// says.
	Names []string
	// Addr is where a host listens for host flows. Port 0 at a local host takes any free one.
	Addr func(southbound.HostID) netip.AddrPort
	// Line is the slowest layer-2 line rate between two hosts by a tag, above which pacing would only fill
	// queues; 0 or nil: not known, and senders are not paced where the controller sets no rate.
	Line func(src, dst southbound.HostID, tag southbound.Tag) pathmap.BitsPerSecond
	// IsCircuit reports whether a tag takes what a host sends to a circuit, so that pace and spread of its coflow do
	// not count; nil: TagCircuit alone does.
	IsCircuit func(src southbound.HostID, tag southbound.Tag) bool
	// MaxRate bounds what all hosts here send together, at layer 2; 0: nothing does. What TCP sends again
	// is not counted.
	MaxRate pathmap.BitsPerSecond
	// MaxRequests bounds the calls a second of each leader, by the name in its certificate; 0: nothing
	// does. A call above the bound waits, and is refused if it would wait for longer than a second.
	MaxRequests int
	Net         Network
	// Now is the instant of the run. It never goes back. nil: time since New.
	Now func() time.Duration
	// Congestion is the TCP congestion control of senders; empty: cubic, which shares evenly where others
	// may not.
	Congestion string
	// Tick is how often backlogs are read and paces derived anew; 0: 10 ms. What is left, as a policy sees
	// it, is older by half of it and of the interval of progress: at 20 and 25 ms completion times under
	// sebf were off by 14 % against fluid (median of a small cut), at 10 and 10 ms by 6 %.
	Tick time.Duration
	// Key authenticates the connections between agents of one run; nil: drawn, which suits one agent for
	// all hosts.
	Key []byte
	// FenceFile keeps the largest election id over a restart of the agent; empty: it is kept in memory
	// only. Two agents need two files.
	FenceFile string
	// VCPUs limits the programs of tasks; nil: nothing does.
	VCPUs VCPUs
	// Watch, if not nil, is told how host flows go. It is called under the agent's lock, so it must
	// neither block nor call the agent.
	Watch Watch
	Log   *slog.Logger // nil: discard
}

// VCPUs limits what the programs of tasks get of this machine's processors. It is called under the agent's lock.
type VCPUs interface {
	// Set gives a task so many thousandths of vCPUs; a second call changes them.
	Set(t southbound.TaskID, milli int32) error
	// Remove ends the limit of a task that is over; one that has none is no error.
	Remove(t southbound.TaskID) error
}

// Watch is told how the host flows that are sent from here go.
type Watch interface {
	// Left is called with what a host flow has left: at its start, whenever that has been read or its path
	// changes, and at its end.
	Left(now time.Duration, f HostFlowLeft)
	// Retired is called with what TCP counted on a connection that has ended.
	Retired(k southbound.HostFlowKey, n Carried)
}

// HostFlowLeft is what a host flow has left, in bytes of payload.
type HostFlowLeft struct {
	southbound.HostFlowKey
	Src, Dst   southbound.HostID
	Tag        southbound.Tag
	Size, Left int64
}

// Carried is what TCP counted on a connection.
type Carried struct {
	Retransmitted int64 `json:"retransmitted"` // segments sent again
	Reordered     int64 `json:"reordered"`     // times that reordering was seen
	Marked        int64 `json:"marked"`        // segments delivered with a mark of congestion
	Received      int64 `json:"received"`      // segments that came back, nearly all acknowledgements
}

const (
	defaultCongestion = "cubic"
	defaultTick       = 10 * time.Millisecond
)

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Hosts <= 0 && len(c.Names) == 0:
		return c, fmt.Errorf("make agent: %d hosts: take 1 or more", c.Hosts)
	case c.Addr == nil && c.Hosts > 0:
		return c, errors.New("make agent: no addresses of hosts")
	case c.Net == nil:
		return c, errors.New("make agent: no network")
	case c.MaxRate < 0:
		return c, fmt.Errorf("make agent: a bound of %v: take a rate above zero, or 0 for none", c.MaxRate)
	case c.MaxRequests < 0:
		return c, fmt.Errorf("make agent: %d requests a second: take 1 or more, or 0 for no bound",
			c.MaxRequests)
	case c.Tick < 0:
		return c, fmt.Errorf("make agent: tick of %v: take a duration above zero", c.Tick)
	}
	if c.Local == nil {
		c.Local = func(southbound.HostID) bool { return true }
	}
	if c.Line == nil {
		c.Line = func(southbound.HostID, southbound.HostID, southbound.Tag) pathmap.BitsPerSecond { return 0 }
	}
	if c.IsCircuit == nil {
		c.IsCircuit = func(_ southbound.HostID, tag southbound.Tag) bool { return tag == southbound.TagCircuit }
	}
	if c.Now == nil {
		began := time.Now()
		c.Now = func() time.Duration { return time.Since(began) }
	}
	if c.Congestion == "" {
		c.Congestion = defaultCongestion
	}
	if c.Tick == 0 {
		c.Tick = defaultTick
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Key == nil {
		c.Key = make([]byte, 32)
		if _, err := rand.Read(c.Key); err != nil {
			return c, fmt.Errorf("make agent: draw key: %w", err)
		}
	}
	return c, nil
}

// bound returns line rates as far as MaxRate allows them.
func (c *Config) bound(line func(src, dst southbound.HostID,
	tag southbound.Tag) pathmap.BitsPerSecond) func(src,
	dst southbound.HostID, tag southbound.Tag) pathmap.BitsPerSecond {
	if c.MaxRate <= 0 {
		return line
	}
	return func(src, dst southbound.HostID, tag southbound.Tag) pathmap.BitsPerSecond {
		if r := line(src, dst, tag); r > 0 && r < c.MaxRate {
			return r
		}
		return c.MaxRate
	}
}
