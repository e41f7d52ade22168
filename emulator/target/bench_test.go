package target_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// tor returns the table of a ToR in a fabric of the given number of racks: a default and seven tags for
// each.
func tor(racks int32) []southbound.Rule {
	var out []southbound.Rule
	for dst := range southbound.RackID(racks) {
		for tag := range southbound.Tag(southbound.Tags) {
			if tag == 0 {
				tag = southbound.AnyTag
			}
			out = append(out, southbound.Rule{Match: southbound.Match{Dst: dst, Tag: tag, Src: southbound.AnyRack},
				Primary: southbound.Port(tag % 4), Backup: 4 + southbound.Port(dst%4)})
		}
	}
	return out
}

func BenchmarkSet(b *testing.B) {
	for _, bb := range []struct {
		name    string
		racks   int32
		changed int
	}{{"1_rule_of_64", 8, 1}, {"1_rule_of_512", 64, 1}, {"100_rules_of_512", 64,
		100}, {"512_rules_of_512", 64, 512}} {
		b.Run(bb.name, func(b *testing.B) {
			r := newRig(b, device.Packet, func(d *device.Config, _ *target.Config) {
				d.Racks, d.Delays = bb.racks, device.Delays{}
			})
			cfg := r.config(b)
			p := r.profile(bb.racks)
			cfg.Profile = p
			s := r.dial(b, cfg)
			rules := tor(bb.racks)
			if err := s.Set(b.Context(), &southbound.Change{Replace: true, Rules: rules}); err != nil {
				b.Fatal(err)
			}
			some := rules[:bb.changed]
			m := newMeasure(b)
			for b.Loop() {
				for i := range some {
					some[i].Primary ^= 1
				}
				began := time.Now()
				if err := s.Set(b.Context(), &southbound.Change{Rules: some}); err != nil {
					b.Fatal(err)
				}
				m.took = append(m.took, time.Since(began))
			}
			m.report()
		})
	}
}

// BenchmarkNewTable writes the rules of a ToR among 128 racks to a switch that has none, and reads them back.
func BenchmarkNewTable(b *testing.B) {
	const racks = 128
	b.ReportAllocs()
	rules, spent := tor(racks), time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		r := newRig(b, device.Packet, func(d *device.Config, _ *target.Config) {
			d.Racks, d.Delays = racks, device.Delays{}
		})
		cfg := r.config(b)
		cfg.Profile = r.profile(racks)
		cfg.Election = func() gnmi.Election { return gnmi.Election{Low: 1} }
		s := r.dial(b, cfg)
		if err := s.Claim(b.Context()); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		cpu := userCPU(b)
		if err := s.Set(b.Context(), &southbound.Change{Rules: rules}); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
		spent += userCPU(b) - cpu
	}
	b.ReportMetric(float64(spent.Microseconds())/float64(b.N), "user-µs/op")
}

// measure is what a user waits for, and what it costs when others use the processor, too: driver and
// target together.
type measure struct {
	b    *testing.B
	cpu  time.Duration
	took []time.Duration
}

func newMeasure(b *testing.B) *measure { return &measure{b: b, cpu: userCPU(b)} }

func userCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}

func (m *measure) report() {
	slices.Sort(m.took)
	m.b.ReportMetric(float64(m.took[len(m.took)/2].Microseconds()), "p50-µs")
	m.b.ReportMetric(float64((userCPU(m.b)-m.cpu).Microseconds())/float64(len(m.took)), "user-µs/op")
}

func BenchmarkCircuitSet(b *testing.B) {
	r := newRig(b, device.Optical, func(d *device.Config, _ *target.Config) { d.Delays = device.Delays{} })
	s := r.dial(b, r.config(b))
	out := southbound.Port(0)
	for b.Loop() {
		out ^= 1
		if err := s.Set(b.Context(), &southbound.Change{Connect: []southbound.CrossConnect{{In: 0,
			Out: out}}}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	r := newRig(b, device.Packet, func(d *device.Config, _ *target.Config) {
		d.Racks, d.Delays = 64,
			device.Delays{}
	})
	cfg := r.config(b)
	cfg.Profile = r.profile(64)
	s := r.dial(b, cfg)
	if err := s.Set(b.Context(), &southbound.Change{Replace: true, Rules: tor(64)}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReplace1024 replaces every circuit of the largest switch that the models name, until all are
// connected.
func BenchmarkReplace1024(b *testing.B) {
	const ports = 1024
	for _, p := range []gnmi.Profile{gnmi.OCP{Ports: ports}, gnmi.SONiCOCS{Ports: ports}} {
		b.Run(p.Name(), func(b *testing.B) {
			r := newRig(b, device.Optical, func(d *device.Config, c *target.Config) {
				d.Ports, d.Delays = ports, device.Delays{}
				d.Plane = mem.New(ports, d.Clock)
				c.SONiC = p.Name() == "sonic-ocs"
			})
			cfg := r.config(b)
			cfg.Profile = p
			s := r.dial(b, cfg)
			shift := 0
			for b.Loop() {
				shift++
				c := &southbound.Change{Replace: true}
				for i := range ports {
					c.Connect = append(c.Connect, southbound.CrossConnect{In: southbound.Port(i),
						Out: southbound.Port((i + shift) % ports)})
				}
				if err := s.Set(b.Context(), c); err != nil {
					b.Fatal(err)
				}
				if seen, err := s.Read(b.Context()); err != nil || len(seen.Connections) != ports {
					b.Fatal(len(seen.Connections), err)
				}
			}
		})
	}
}

// BenchmarkSamples takes 5,400 leaves every 100 ms: one round is one sample. A target that falls behind
// needs longer than 100 ms for it.
func BenchmarkSamples(b *testing.B) {
	const ports = 450 // of 2 sides with 6 state and configuration leaves each
	r := newRig(b, device.Optical, func(d *device.Config, _ *target.Config) {
		d.Ports, d.Delays = ports, device.Delays{}
		d.Plane = mem.New(ports, d.Clock)
	})
	stream, err := r.raw(b).Subscribe(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if err := stream.Send(&gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: &gpb.SubscriptionList{
		Mode: gpb.SubscriptionList_STREAM, Encoding: gpb.Encoding_PROTO, UpdatesOnly: true,
		Subscription: []*gpb.Subscription{{Path: pathOf(b, "/components"), Mode: gpb.SubscriptionMode_SAMPLE,
			SampleInterval: uint64(100 * ms)}}}}}); err != nil {
		b.Fatal(err)
	}
	const leaves = ports * 2 * 6
	total, cpu := 0, userCPU(b)
	for b.Loop() {
		for got := 0; got < leaves; {
			m, err := stream.Recv()
			if err != nil {
				b.Fatal(err)
			}
			got += len(m.GetUpdate().GetUpdate())
		}
		total += leaves
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "leaves/s")
	b.ReportMetric(float64((userCPU(b)-cpu).Microseconds())/float64(b.N), "user-µs/op")
}

// BenchmarkSubscribers has 1,000 streams, of 20 clients, watch every circuit of one switch. One round
// is a Set that moves a circuit, until each stream has told that the new one is connected.
func BenchmarkSubscribers(b *testing.B) {
	const streams, clients = 1000, 20
	r := newRig(b, device.Optical, func(d *device.Config, c *target.Config) {
		d.Delays = device.Delays{}
		c.MaxSubscribers = streams
	})
	s := r.dial(b, r.config(b))
	told := make(chan error, streams)
	for range clients {
		c := r.raw(b)
		for range streams / clients {
			stream, err := c.Subscribe(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if err := stream.Send(&gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{
				Subscribe: &gpb.SubscriptionList{Mode: gpb.SubscriptionList_STREAM,
					Encoding: gpb.Encoding_PROTO, UpdatesOnly: true,
					Subscription: []*gpb.Subscription{{Path: pathOf(b,
						"/connections/port-connection[name=*]/state/status"),
						Mode: gpb.SubscriptionMode_ON_CHANGE}}}}}); err != nil {
				b.Fatal(err)
			}
			if m, err := stream.Recv(); err != nil || !m.GetSyncResponse() {
				b.Fatal(m, err)
			}
			go func() {
				for {
					m, err := stream.Recv()
					if err != nil {
						told <- err
						return
					}
					for _, u := range m.GetUpdate().GetUpdate() {
						if u.GetVal().GetStringVal() == "CONNECTED" {
							told <- nil
						}
					}
				}
			}()
		}
	}
	out := southbound.Port(0)
	m := newMeasure(b)
	for b.Loop() {
		out ^= 1
		began := time.Now()
		if err := s.Set(b.Context(), &southbound.Change{Replace: true,
			Connect: []southbound.CrossConnect{{In: 0, Out: out}}}); err != nil {
			b.Fatal(err)
		}
		for range streams {
			if err := <-told; err != nil {
				b.Fatal(err)
			}
		}
		m.took = append(m.took, time.Since(began))
	}
	m.report()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(u.Maxrss)/1024, "MiB-with-clients")
}
