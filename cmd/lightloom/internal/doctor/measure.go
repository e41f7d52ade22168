package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"lightloom/emulator/netns"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// How long measure waits for TCP to find its rate, and how long it counts.
const (
	warmUp = 300 * time.Millisecond
	count  = 1500 * time.Millisecond
	port   = 4748
)

// fastest is a rate that no present machine carries through three emulated switches.
const fastest = 100 * pathmap.Gbps

// measure builds two racks and a spine with practically unlimited rates, and sends as fast as one
// connection can.
func measure(ctx context.Context) (rate pathmap.BitsPerSecond, err error) {
	spec, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 2, Hosts: 1, Spines: 1, NIC: fastest,
		EPS: fastest})
	if err != nil {
		return 0, err
	}
	f, err := netns.Build(spec, netns.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := program(f); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	from, to, err := connect(ctx, f)
	if err != nil {
		return 0, err
	}
	return carry(ctx, from, to)
}

// program sets the rules that lead packets to each rack.
func program(f *netns.Fabric) error {
	spec := f.Spec()
	rule := func(dst southbound.RackID, port southbound.Port) []southbound.Rule {
		return []southbound.Rule{{Match: southbound.Match{Dst: dst, Tag: southbound.AnyTag,
			Src: southbound.AnyRack},
			Primary: port, Backup: southbound.NoPort}}
	}
	for rack := range southbound.RackID(2) {
		if err := f.Plane(spec.ToRNode[rack]).SetRules(rule(1-rack, 1), nil, true); err != nil {
			return err
		}
	}
	spine, ok := spec.Topology.Named("spine0")
	if !ok {
		return errors.New("the leaf-spine has no spine0")
	}
	return f.Plane(spine).SetRules(append(rule(0, 0), rule(1, 1)...), nil, true)
}

// connect opens a connection from host 0 to host 1.
func connect(ctx context.Context, f *netns.Fabric) (from, to net.Conn, err error) {
	var l net.Listener
	addr := netip.AddrPortFrom(f.Addr(1), port)
	if err := f.InHost(1, func() (err error) {
		l, err = net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(addr))
		return err
	}); err != nil {
		return nil, nil, err
	}
	defer l.Close()
	err = f.InHost(0, func() (err error) {
		from, err = (&net.Dialer{}).DialContext(ctx, "tcp4", addr.String())
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if to, err = l.Accept(); err != nil {
		return nil, nil, errors.Join(err, from.Close())
	}
	return from, to, nil
}

// carry sends until the time is over, then closes both ends.
func carry(ctx context.Context, from, to net.Conn) (pathmap.BitsPerSecond, error) {
	stop := context.AfterFunc(ctx, func() { _ = from.Close(); _ = to.Close() })
	defer stop()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for buf := make([]byte, 256<<10); ; {
			if _, err := from.Write(buf); err != nil {
				return // closed below
			}
		}
	}()
	n, took, err := receive(to)
	err = errors.Join(err, from.Close(), to.Close())
	<-sent
	if err != nil {
		return 0, fmt.Errorf("carry bytes: %w", err)
	}
	const payload, frame = 1448, 1514
	return pathmap.BitsPerSecond(float64(n) * 8 / took.Seconds() * frame / payload), nil
}

// receive counts bytes once the warm-up is over.
func receive(to net.Conn) (n int64, took time.Duration, err error) {
	buf := make([]byte, 256<<10)
	began := time.Now()
	for {
		k, err := to.Read(buf)
		if err != nil {
			return n, took, err
		}
		switch since := time.Since(began); {
		case since < warmUp:
		case since < warmUp+count:
			n, took = n+int64(k), since-warmUp
		default:
			return n, took, nil
		}
	}
}
