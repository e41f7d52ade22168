package netns

import (
	"fmt"

	"lightloom/pathmap"
)

// Options say how a fabric is built. The zero value is what to use.
type Options struct {
	Dataplane  string // Auto, EBPF or Mirred; empty: Auto
	Congestion string // congestion control of the hosts; empty: cubic
	MTU        int    // bytes; 0: 1500
	QueueBytes int    // of every switch queue; 0: by the link's rate
	ECNBytes   int    // a switch queue marks packets that find more bytes than this ahead of them; 0: no marking
	// bytes of a ToR's queue for each rack, where packets wait while the fibre is dark; 0: they take their
	// backup
	VOQBytes int
	// Sources lets rules name the rack that packets come from, as those of paths over several circuits do. It takes room
	// at each switch; on a general fabric they can anyway.
	Sources bool `json:",omitempty"`
	// Priorities makes queues for priorities 1 to 6 in any fabric. Without it one of more than a thousand links has
	// queues for the lowest and the highest, which acknowledgements have: packets of those between take the lowest.
	Priorities bool `json:",omitempty"`
}

// Settings are the options as they came out, for the report.
type Settings struct {
	Dataplane     string
	Congestion    string
	MTU           int
	QueueBytes    int           // as asked; 0: by the link's rate
	ECNBytes      int           // likewise; 0: no packet is marked
	VOQBytes      int           // likewise; 0: there are none
	NICQueueBytes int           // of a host's queue
	MinQueueBytes int           // smallest and largest switch queue
	MaxQueueBytes int           //
	MaxBurst      pathmap.Bytes // largest burst of a link
	Notes         []string      // what this machine did not allow, each once
}

// Limits of options: a packet must fit a queue, and the smallest IPv4 host must be able to take it.
const (
	minMTU, maxMTU     = 576, 65535
	minQueue, maxQueue = 3_000, 1 << 30
)

func (o Options) settle() (Options, error) {
	if o.Congestion == "" {
		o.Congestion = "cubic"
	}
	if o.MTU == 0 {
		o.MTU = 1500
	}
	if o.MTU < minMTU || o.MTU > maxMTU {
		return o, fmt.Errorf("MTU %d: take %d to %d bytes", o.MTU, minMTU, maxMTU)
	}
	if o.QueueBytes != 0 && (o.QueueBytes < max(minQueue, 2*o.MTU) || o.QueueBytes > maxQueue) {
		return o, fmt.Errorf("queue of %d bytes: take %d (two packets) to %d", o.QueueBytes,
			max(minQueue, 2*o.MTU), maxQueue)
	}
	if err := o.checkECN(); err != nil {
		return o, err
	}
	if err := o.checkVOQs(); err != nil {
		return o, err
	}
	var err error
	o.Dataplane, err = ChooseDataplane(o.Dataplane)
	return o, err
}

// checkECN refuses a threshold that no queue could have, or that this kernel has no queue for.
func (o Options) checkECN() error {
	switch {
	case o.ECNBytes == 0:
		return nil
	case o.ECNBytes < o.MTU || o.QueueBytes != 0 && o.ECNBytes >= o.QueueBytes || o.ECNBytes > maxQueue:
		return fmt.Errorf("ECN threshold of %d bytes: take one packet (%d) to less than a queue",
			o.ECNBytes, o.MTU)
	}
	if err := ECNSupported(); err != nil {
		return fmt.Errorf("ECN threshold of %d bytes: %w", o.ECNBytes, err)
	}
	return nil
}
