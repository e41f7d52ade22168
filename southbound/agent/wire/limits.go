package wire

// Limits of the protocol, so that neither end can exhaust the other. Both ends refuse what is larger.
const (
	// MaxMessage bounds one message, in bytes. The largest that either end makes is about a third of it.
	MaxMessage = 1 << 20
	// ChunkRows is how many rows of coflows go into one Start, or steerings, tasks or pairs into one call.
	ChunkRows = 8192
	// MaxRows bounds the rows of one coflow: as many as a job may have flows.
	MaxRows = 1 << 20
	// MaxPaces bounds the coflows of one SetRates: at most 19 bytes each on the wire.
	MaxPaces = 1 << 14
	// MaxHostRates bounds the rates of hosts in all spreads of one SetRates together: at most 18 bytes
	// each on the wire.
	MaxHostRates = 1 << 13
	// MaxExtras bounds the extras of one SetRates: at most 24 bytes each.
	MaxExtras = 1 << 13
	// MaxMoved bounds the pairs of hosts in one traffic report, at most 20 bytes each.
	MaxMoved = 1 << 15
	// HostsAtOnce is how many hosts of a network go into one call: at most some 350 bytes each.
	HostsAtOnce = 2048
	// MaxHosts bounds the hosts of a network.
	MaxHosts    = 1 << 20
	maxHostName = 255
	// EventBatch is how many events go into one message.
	EventBatch = 2048
)
