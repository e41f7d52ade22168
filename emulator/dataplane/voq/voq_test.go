package voq

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/southbound"
)

// frame is a UDP packet for a host of a rack, with its size in bytes at layer 2 and a number at its end.
func frame(dst southbound.RackID, bytes, number int) Frame {
	f := make(Frame, vnetLen+max(bytes, 46))
	f[vnetLen+12], f[ipv4] = 8, 0x45
	f[ipv4+12], f[ipv4+16] = 10, 10
	binary.BigEndian.PutUint16(f[ipv4+17:], uint16(dst))
	binary.BigEndian.PutUint32(f[len(f)-4:], uint32(number))
	return f
}

func TestFrame(t *testing.T) {
	routed := frame(258, 60, 0)
	routed[ipv4+1] = southbound.TOS(3, southbound.TagCircuit)
	binary.BigEndian.PutUint16(routed[ipv4+13:], 7)
	if dst, src, tag, ok := routed.Route(); dst != 258 || src != 7 || tag != southbound.TagCircuit || !ok {
		t.Errorf("racks %d and %d, tag %d, %v", dst, src, tag, ok)
	}
	for _, c := range []struct {
		name   string
		change func(Frame) Frame
	}{
		{"too short", func(f Frame) Frame { return f[:minFrame-1] }},
		{"nothing", func(Frame) Frame { return nil }},
		{"IPv6", func(f Frame) Frame { f[vnetLen+12], f[vnetLen+13] = 0x86, 0xdd; return f }},
		{"version 6", func(f Frame) Frame { f[ipv4] = 0x65; return f }},
		{"to another network", func(f Frame) Frame { f[ipv4+16] = 11; return f }},
		{"from another network", func(f Frame) Frame { f[ipv4+12] = 11; return f }},
	} {
		if _, _, _, ok := c.change(frame(1, 60, 0)).Route(); ok {
			t.Errorf("%s: it was routed", c.name)
		}
	}
	for _, c := range []struct {
		name                   string
		kind                   byte
		bytes, head, mss, want int
	}{
		{"a whole packet", 0, 1514, 0, 0, 1},
		{"a segment of 64 kB", 1, 65_226 + 66, 66, 1448, 46}, // 65,226 ÷ 1,448 = 45.05
		{"a segment that is just three", 1, 66 + 3*1448, 66, 1448, 3},
		{"a segment without a size", 1, 4000, 66, 0, 1},
		{"a segment that is one", 1, 66 + 1448, 66, 1448, 1},
	} {
		f := frame(1, c.bytes, 0)
		f[vnetGSO] = c.kind
		binary.NativeEndian.PutUint16(f[vnetHdrLen:], uint16(c.head))
		binary.NativeEndian.PutUint16(f[vnetSize:], uint16(c.mss))
		if got := f.Segments(); got != c.want {
			t.Errorf("%s: %d packets, want %d", c.name, got, c.want)
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte(frame(3, 60, 1)))
	f.Add([]byte{0, 1, 66, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		x := Frame(b)
		dst, _, tag, ok := x.Route()
		if ok && (dst < 0 || int(tag) >= southbound.Tags) || x.Segments() < 1 || x.Bytes() < 0 {
			t.Errorf("rack %d, tag %d, %d packets, %d bytes", dst, tag, x.Segments(), x.Bytes())
		}
	})
}

// TestQueueReference holds the queue against a slice that is copied at each change.
func TestQueueReference(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		q := fifo{limit: 1000 + r.IntN(5000)}
		var reference []Frame
		for i := range 200 {
			if r.IntN(3) > 0 {
				f, sum := frame(1, 60+r.IntN(1500), i), 0
				for _, x := range reference {
					sum += x.Bytes()
				}
				if fits := sum+f.Bytes() <= q.limit; q.push(f) != fits {
					t.Fatalf("seed %d: a frame of %d after %d of %d: want room %v", seed, f.Bytes(), sum,
						q.limit, fits)
				} else if fits {
					reference = append(slices.Clone(reference), f)
				}
			} else if q.len() > 0 {
				if &q.first()[0] != &reference[0][0] {
					t.Fatalf("seed %d: another frame is first", seed)
				}
				q.pop()
				reference = slices.Clone(reference[1:])
			}
			if q.len() != len(reference) {
				t.Fatalf("seed %d: %d frames, want %d", seed, q.len(), len(reference))
			}
		}
	}
}

// gate is a switch in memory: what it has queued, which circuits are lit, and what has passed.
type gate struct {
	lit    []bool
	queued []int
	room   int // frames that the link takes still
	lost   southbound.RackID
}

func (g *gate) Pass(f Frame, send func(int) Verdict) Verdict {
	dst, _, _, _ := f.Route()
	switch {
	case dst == g.lost:
		return Lost
	case !g.lit[dst]:
		return Held
	}
	return send(int(dst))
}

func (g *gate) Queued(rack southbound.RackID) int { return g.queued[rack] }

func (g *gate) Left(rack southbound.RackID, n int) { g.queued[rack] -= min(n, g.queued[rack]) }

// TestLotReference queues frames for some racks at random while circuits light and darken and links
// fill, and wants: of each rack what was queued and not dropped leaves in its order, once its circuit
// is lit and not sooner; drops are counted; and in the end the switch gets the report that nothing
// waits.
func TestLotReference(t *testing.T) {
	const racks = 4
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		g := &gate{lit: make([]bool, racks), queued: make([]int, racks), lost: -1}
		limit := 2000 + r.IntN(8000)
		l := newVOQs(g, racks, limit)
		var want, got [racks][]uint32
		var waits [racks]int
		var drops, gone uint64
		send := func(f Frame, link int) Verdict {
			if g.room == 0 {
				return Full
			}
			g.room--
			if !g.lit[link] {
				t.Fatalf("seed %d: a frame for rack %d left in the dark", seed, link)
			}
			got[link] = append(got[link], binary.BigEndian.Uint32(f[len(f)-4:]))
			waits[link] -= f.Bytes()
			return Sent
		}
		for i := range 150 {
			switch r.IntN(6) {
			case 0:
				rack := r.IntN(racks)
				g.lit[rack] = !g.lit[rack]
			case 1:
				g.room = r.IntN(6)
				l.flush(send)
			case 2: // the kernel drops one on its way
				g.queued[r.IntN(racks)]++
				gone++
			default:
				rack := southbound.RackID(r.IntN(racks))
				f := frame(rack, 60+r.IntN(1400), i)
				g.queued[rack]++
				if waits[rack]+f.Bytes() <= limit {
					want[rack] = append(want[rack], uint32(i))
					waits[rack] += f.Bytes()
				} else {
					drops++
				}
				l.take(f)
			}
		}
		l.missing()
		l.writeOff()
		g.room = 1 << 20
		for i := range g.lit {
			g.lit[i] = true
		}
		for sent := true; sent; {
			sent, _ = l.flush(send)
		}
		dropped := uint64(0)
		for rack, c := range l.read() {
			if dropped += c.Dropped; !slices.Equal(got[rack], want[rack]) || g.queued[rack] != 0 || c.Bytes != 0 ||
				c.Most > int64(limit) || int(c.Frames) != len(want[rack]) {
				t.Fatalf("seed %d, rack %d: %v left, want %v; %d are queued; %+v", seed, rack, got[rack], want[rack],
					g.queued[rack], c)
			}
		}
		if dropped != drops+gone {
			t.Fatalf("seed %d: %d packets were counted as dropped, want %d and %d", seed, dropped, drops, gone)
		}
	}
}

// TestLost: a frame that no rule leads anywhere is dropped, and does not stand in the way of those
// behind it.
func TestLost(t *testing.T) {
	g := &gate{lit: []bool{true, true}, queued: []int{2, 0}, room: 9, lost: 0}
	l := newVOQs(g, 2, 1000)
	l.take(frame(0, 100, 1))
	l.take(frame(0, 100, 2))
	l.flush(func(Frame, int) Verdict { t.Error("it was sent"); return Sent })
	if c := l.read()[0]; c.Dropped != 2 || c.Bytes != 0 || g.queued[0] != 0 {
		t.Errorf("%+v, %d queued", c, g.queued[0])
	}
	l.take(frame(7, 100, 3)) // a rack that is not there
	l.take(Frame{1, 2})
}
