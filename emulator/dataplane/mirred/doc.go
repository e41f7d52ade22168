// Package mirred moves packets with two classifiers that every kernel lets an ordinary user have in a
// user namespace of their own: u32 looks at destination and tag, the mirred action sends the packet out
// of another interface.
//
// A packet switch is one shared ingress block, so that one set of filters serves all its ports:
//
//	root ── /24 of a rack with hosts here ─▶ local table, by the last byte ─▶ light table of the host's port
//	     └─ everything else ─▶ one of two banks, by the rack byte ─▶ rule ─▶ light table of its primary port
//	                            └─ the rack's rules that name a source, by the source's rack byte ─▶ rule
//
// A light table holds one filter that sends everything out of its port, or nothing while the port is
// dark. A rule links to its primary's light table and carries its backup as its own action, which u32
// runs when the linked table matched nothing: emptying one light table turns every rule of that port
// over to its backup. What matches nothing goes to the sink, whose shared action counts.
//
// An OCS is two filters a port: the circuit, where there is one, and the sink behind it.
//
// It is not exact to the microsecond: lit circuits are made by a thread that sleeps, then spins.
// Package ebpf is.
package mirred
