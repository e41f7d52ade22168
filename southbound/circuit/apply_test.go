package circuit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"lightloom/southbound"
	"lightloom/southbound/hint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a switch in memory, and the packet switches around it: it notes when packets are steered to
// the dark.
type bench struct {
	have    map[southbound.Port]southbound.Port
	fail    map[southbound.Port]bool // a circuit of that input ends in FAILED
	failed  map[southbound.Port]southbound.Port
	set     func(n int) (err error, taken bool) // what the n-th Set answers
	sets    int
	steered map[southbound.CrossConnect]bool
	wrong   []string
}

func newBench(pairs ...southbound.Port) *bench {
	b := &bench{have: map[southbound.Port]southbound.Port{}, fail: map[southbound.Port]bool{},
		failed: map[southbound.Port]southbound.Port{}, steered: map[southbound.CrossConnect]bool{}}
	for _, x := range want(pairs...) {
		b.have[x.In] = x.Out
		b.steered[x] = true
	}
	return b
}

func (b *bench) Set(_ context.Context, c *southbound.Change) error {
	b.sets++
	var err error
	taken := true
	if b.set != nil {
		err, taken = b.set(b.sets)
	}
	if !taken {
		return err
	}
	for _, x := range c.Connect {
		delete(b.have, x.In)
		delete(b.failed, x.In)
		for in, out := range b.have {
			if out == x.Out && !x.Off {
				delete(b.have, in)
			}
		}
	}
	for _, x := range c.Connect {
		switch {
		case x.Off:
		case b.fail[x.In]:
			b.failed[x.In] = x.Out
		default:
			b.have[x.In] = x.Out
		}
	}
	b.watch()
	return err
}

// watch notes packets that would be lost.
func (b *bench) watch() {
	for x := range b.steered {
		if out, lit := b.have[x.In]; !lit || out != x.Out {
			b.wrong = append(b.wrong, fmt.Sprintf("%d→%d is dark and steered to", x.In, x.Out))
		}
	}
}

func (b *bench) Read(context.Context) (southbound.Seen, error) {
	s := southbound.Seen{Connections: connectedMap(b.have)}
	for in, out := range b.failed {
		s.Connections = append(s.Connections, southbound.Connection{In: in, Out: out, Status: southbound.Failed})
	}
	return s, nil
}

func (b *bench) Watch(context.Context, func(southbound.DeviceEvent)) error { return nil }

func (b *bench) Off(_ context.Context, all []southbound.CrossConnect) error {
	for _, x := range all {
		delete(b.steered, x)
	}
	return nil
}

func (b *bench) On(_ context.Context, all []southbound.CrossConnect) error {
	for _, x := range all {
		b.steered[x] = true
	}
	b.watch()
	return nil
}

// TestApply: whatever goes wrong, the circuits are in the end those that are wanted or those that were,
// packets are never steered to the dark, and the circuits of others are as they were.
func TestApply(t *testing.T) {
	before, after := []southbound.Port{0, 1, 1, 0, 2, 2}, want(0, 0, 1, 1, 2, 2, 3, 3)
	lost := errors.New("connection lost")
	for _, tt := range []struct {
		name string
		with func(*bench)
		says string // "" means that it went well
	}{
		{"well", func(*bench) {}, ""},
		{"refused", func(b *bench) {
			b.set = func(n int) (error, bool) {
				if n == 1 {
					return fmt.Errorf("no: %w", southbound.ErrRefused), false
				}
				return nil, true
			}
		}, "stands again"},
		{"fails, and was applied", func(b *bench) {
			b.set = func(n int) (error, bool) {
				return lost, true
			}
		}, ""},
		{"says success, and did not", func(b *bench) {
			b.set = func(n int) (error, bool) { return nil, n > 1 }
		}, "stands again"},
		{"a mirror fails", func(b *bench) { b.fail[3] = true }, "stands again"},
	} {
		for _, caps := range allCaps {
			run := func(t *testing.T) {
				b := newBench(append(before, 6, 7)...)
				tt.with(b)
				seen, err := b.Read(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				p, err := Make(seen.Connections, after, leaseOf(ports(4), ports(4)), caps)
				if err != nil {
					t.Fatal(err)
				}
				err = Apply(t.Context(), b, b, p, caps,
					Options{Settle: 100 * time.Millisecond, Every: time.Millisecond})
				end := after
				if err != nil {
					end = want(before...)
				}
				if err != nil && !strings.Contains(err.Error(), "step 1: ") && tt.name == "refused" {
					t.Errorf("%v, want it to name step 1", err)
				}
				if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%v, want %q", err, tt.says)
				}
				if b.have[6] != 7 {
					t.Error("a circuit of others is gone")
				}
				delete(b.have, 6)
				var got []southbound.CrossConnect
				for in, out := range b.have {
					got = append(got, southbound.CrossConnect{In: in, Out: out})
				}
				slices.SortFunc(got, byPorts)
				slices.SortFunc(end, byPorts)
				if !slices.Equal(got, end) {
					t.Errorf("it ends with %v, want %v", got, end)
				}
				for _, x := range end {
					if !b.steered[x] {
						t.Errorf("nothing is steered to %v", x)
					}
				}
				if len(b.wrong) > 0 {
					t.Error(b.wrong)
				}
			}
			t.Run(fmt.Sprintf("%s, %+v", tt.name, caps), func(t *testing.T) { synctest.Test(t, run) })
		}
	}
}

func TestLeases(t *testing.T) {
	now := time.Unix(1000, 0)
	b := &LeaseTable{}
	take := func(group, holder, in, out string, until time.Duration) error {
		i, err := ParsePorts(in)
		if err != nil {
			t.Fatal(err)
		}
		o, err := ParsePorts(out)
		if err != nil {
			t.Fatal(err)
		}
		return b.Take(Lease{Device: "ocs", Group: group, Holder: holder, Inputs: i, Outputs: o,
			Until: now.Add(until)}, now)
	}
	for _, tt := range []struct {
		group, holder, in, out string
		until                  time.Duration
		err                    string
	}{
		{"a", "me", "0-3", "0-3", time.Hour, ""},
		{"b", "you", "3-5", "4-5", time.Hour, `input 3 is of group "a", held by me until`},
		{"b", "you", "4-5", "3-5", time.Hour, `output 3 is of group "a", held by me until`},
		{"b", "you", "4-5", "4-5", time.Minute, ""},
		{"a", "you", "0", "0", time.Hour, `"me" holds it`},
		{"a", "me", "0-2", "0-3", time.Hour, ""},
		{"c", "me", "7", "7", -time.Second, "which is past"},
	} {
		err := take(tt.group, tt.holder, tt.in, tt.out, tt.until)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	shared := &LeaseTable{}
	for _, x := range []struct{ device, group string }{{"ocs2", "a"}, {"ocs", "b"}, {"ocs1", "c"},
		{"ocs", "a"}} {
		l := Lease{Device: x.device, Group: x.group, Holder: "me", Inputs: ports(1), Outputs: ports(1),
			Until: now.Add(1)}
		if x.group == "b" {
			l.Inputs, l.Outputs = []southbound.Port{1}, []southbound.Port{1}
		}
		if err := shared.Take(l, now); err != nil {
			t.Fatal(err)
		}
	}
	var order []string
	for _, l := range shared.Leases {
		order = append(order, l.Device+" "+l.Group)
	}
	if want := []string{"ocs a", "ocs b", "ocs1 c", "ocs2 a"}; !slices.Equal(order, want) {
		t.Errorf("leases are kept as %v, want %v", order, want)
	}
	now = now.Add(2 * time.Minute)
	if _, err := b.Find("ocs", "b", now); !errors.Is(err, ErrNoLease) {
		t.Errorf("b has run out: %v", err)
	}
	if err := take("d", "x", "4", "4", time.Hour); err != nil {
		t.Errorf("the ports of one that has run out: %v", err)
	}
	if l, err := b.Find("ocs", "a", now); err != nil || l.Input(3) || !l.Output(3) {
		t.Errorf("%+v, %v", l, err)
	}
	if err := b.Release("ocs", "a", "you"); !errors.Is(err, ErrLeased) ||
		!strings.Contains(hint.Of(err), "--holder me") {
		t.Error(err)
	}
	if err := b.Release("ocs", "a", "me"); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "x", "3-1", "0,", "-1", "70000"} {
		if p, err := ParsePorts(text); err == nil {
			t.Errorf("%q is %v", text, p)
		}
	}
}

func TestBookFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "leases.json")
	now := time.Unix(1000, 0).UTC()
	l := Lease{Device: "ocs", Group: "g", Holder: "h", Inputs: ports(2), Outputs: ports(2),
		Until: now.Add(time.Hour)}
	if err := ChangeLeases(file, "h", now, func(b *LeaseTable) error { return b.Take(l, now) }); err != nil {
		t.Fatal(err)
	}
	if err := ChangeLeases(file, "h", now, func(b *LeaseTable) error {
		return b.Release("ocs", "other", "h")
	}); !errors.Is(err, ErrNoLease) {
		t.Error(err)
	}
	b, err := ReadLeases(file)
	if err != nil || len(b.Leases) != 1 || !b.Leases[0].Until.Equal(l.Until) {
		t.Errorf("%+v, %v", b, err)
	}
	for _, tt := range []struct{ text, says string }{
		{`{"leases":[]}` + strings.Repeat(" ", maxBook), "longer than 1048576 bytes"},
		{`{"leases":[]}` + strings.Repeat(" ", maxBook-13), ""},
		{"{", "unexpected end"},
	} {
		other := filepath.Join(t.TempDir(), "leases.json")
		if err := os.WriteFile(other, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if b, err := ReadLeases(other); (err == nil) != (tt.says == "") || err != nil &&
			!strings.Contains(err.Error(),
				tt.says) || err == nil && len(b.Leases) > 0 {
			t.Errorf("a file of %d bytes: %+v, %v; want %q", len(tt.text), b, err, tt.says)
		}
	}
	if err := os.WriteFile(file+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ChangeLeases(file, "h", now, func(*LeaseTable) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "lock") {
		t.Errorf("a locked book: %v", err)
	}
}
