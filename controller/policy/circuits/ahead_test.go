package circuits

import (
	"reflect"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy/pending"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestAhead: a coflow that was read before it started has the same demand as one that is read at its
// start, also if it starts with other rows, or has sent meanwhile.
func TestAhead(t *testing.T) {
	const mb = pathmap.Bytes(1e6)
	src, dst, size := []southbound.HostID{0, 1, 4}, []southbound.HostID{2, 3,
		3}, []pathmap.Bytes{4 * mb, 3 * mb, 9 * mb}
	for _, tc := range []struct {
		name  string
		start func(*controller.CoflowView)
		kept  bool
	}{
		{"as expected", func(*controller.CoflowView) {}, true},
		{"with bytes sent", func(c *controller.CoflowView) {
			c.Remaining.Base[0], c.Ended[2], c.Remaining.Base[2] = 1e6, true, 0
		}, true},
		{"with another source", func(c *controller.CoflowView) { c.Src[2] = 6 }, false},
		{"with another size", func(c *controller.CoflowView) {
			c.Size[1], c.Remaining.Base[1] = 5*mb,
				5e6
		}, false},
		{"with a row less", func(c *controller.CoflowView) {
			c.Src, c.Dst, c.Size, c.Ended, c.Remaining.Base = c.Src[:2], c.Dst[:2], c.Size[:2], c.Ended[:2], c.Remaining.Base[:2]
		}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := view(t, slices.Clone(src), slices.Clone(dst), slices.Clone(size), nil)
			c := &v.Coflows[0]
			var m, fresh memory
			m.remember(v, ports(v))
			m.expect(&pending.Coflow{ID: c.ID, Src: src, Dst: dst, Size: size})
			tc.start(c)
			ahead := m.books.At(c.ID)
			got := m.demand(c)
			fresh.remember(v, ports(v))
			want := fresh.demand(c)
			if got.id != want.id || got.bound != want.bound || !slices.Equal(got.pairs, want.pairs) ||
				!reflect.DeepEqual(got.book.index, want.book.index) {
				t.Errorf("%+v, a fresh memory has %+v", got, want)
			}
			if kept := got.book == ahead; kept != tc.kept {
				t.Errorf("what was read before is kept: %v, want %v", kept, tc.kept)
			}
		})
	}
}
