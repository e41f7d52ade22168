package pathmap

import (
	"slices"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBuilder(t *testing.T) {
	b := NewBuilder()
	x := b.Add(Node{Name: "x", Role: ToR, Rack: 0})
	y := b.Add(Node{Name: "y", Role: Switch, Rack: None})
	b.Cable(x, 5, y, 0, Gbps, 2*Gbps)
	b.Cable(x, 2, y, 7, Gbps, Gbps)
	topology, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if out := topology.Out(x); !slices.Equal(out, []LinkID{2, 0}) {
		t.Errorf("links of x are %v, want them by port: [2 0]", out)
	}
	if l := topology.Link(Reverse(0)); l != (Link{From: y, To: x, FromPort: 0, ToPort: 5,
		Capacity: 2 * Gbps}) {
		t.Errorf("link 0 reversed is %+v", l)
	}
	if n, ok := topology.Named("y"); n != y || !ok {
		t.Errorf("y is node %d, %v", n, ok)
	}
	if _, ok := topology.Named("z"); ok {
		t.Error("z is a node")
	}
	for port, want := range map[int32]LinkID{5: 0, 2: 2, 0: None, 9: None} {
		if l := topology.OutPort(x, port); l != want {
			t.Errorf("port %d of x: link %d, want %d", port, l, want)
		}
	}
	if n := topology.Ports(y); n != 8 {
		t.Errorf("y has ports below %d, want 8", n)
	}
}

func TestBuilderErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*Builder)
		want string
	}{
		{"no name", func(b *Builder) { b.Add(Node{}) }, `add node 2: name "" is empty or used twice`},
		{"a name twice", func(b *Builder) { b.Add(Node{Name: "a"}) }, `add node 2: name "a" is empty or used twice`},
		{"no such node", func(b *Builder) { b.Cable(0, 0, 2, 0, 1, 1) }, "cable 0–2: no such node"},
		{"self-loop", func(b *Builder) { b.Cable(0, 0, 0, 1, 1, 1) }, "cable a:0–a:1: joins a node to itself"},
		{"no capacity", func(b *Builder) { b.Cable(0, 0, 1, 0, 1, 0) },
			"cable a:0–b:0: capacity must be above zero"},
		{"negative port", func(b *Builder) { b.Cable(0, 0, 1, -1, 1, 1) },
			"cable a:0–b:-1: port numbers start at 0"},
		{"a port twice", func(b *Builder) {
			b.Cable(0, 0, 1, 0, 1, 1)
			b.Cable(0, 1, 1, 0, 1, 1)
		}, "cable a:1–b:0: port is held by a:0–b:0"},
		{"the first is told", func(b *Builder) {
			b.Cable(0, 0, 0, 1, 1, 1)
			b.Add(Node{})
		}, "cable a:0–a:1: joins a node to itself"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBuilder()
			b.Add(Node{Name: "a"})
			b.Add(Node{Name: "b"})
			c.do(b)
			if _, err := b.Build(); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
