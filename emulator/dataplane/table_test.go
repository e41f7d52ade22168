package dataplane

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/southbound"
)

func randomMatch(r *rand.Rand) southbound.Match {
	tags := []southbound.Tag{0, 1, 7, southbound.AnyTag}
	return southbound.Match{Dst: southbound.RackID(r.IntN(4)), Tag: tags[r.IntN(len(tags))],
		Src: southbound.RackID(r.IntN(3) - 1)}
}

// TestTableReference holds Change, Edits and Lookup against a map.
func TestTableReference(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var table Table
		reference := map[southbound.Match]southbound.Rule{}
		for range 8 {
			set := map[southbound.Match]southbound.Rule{}
			for range r.IntN(6) {
				m := randomMatch(r)
				set[m] = southbound.Rule{Match: m, Primary: southbound.Port(r.IntN(3)),
					Backup: southbound.Port(r.IntN(3) - 1)}
			}
			var drop []southbound.Match
			for range r.IntN(4) {
				drop = append(drop, randomMatch(r))
			}
			replace := r.IntN(4) == 0
			next, err := table.Change(slices.Collect(maps.Values(set)), drop, replace)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if replace {
				clear(reference)
			}
			for _, m := range drop {
				delete(reference, m)
			}
			maps.Copy(reference, set)
			if want := slices.SortedFunc(maps.Values(reference), byMatch); !slices.Equal(next, Table(want)) {
				t.Fatalf("seed %d: table is %v, want %v", seed, next, want)
			}
			if got := redo(table, table.Edits(next)); !slices.Equal(got, next) {
				t.Fatalf("seed %d: edits lead to %v, want %v", seed, got, next)
			}
			m := randomMatch(r)
			m.Src, m.Tag = max(m.Src, 0), m.Tag%southbound.Tags
			got, ok := next.Lookup(m.Dst, m.Src, m.Tag)
			want, wok := reference[m]
			for _, src := range []southbound.RackID{m.Src, southbound.AnyRack} {
				for _, tag := range []southbound.Tag{m.Tag, southbound.AnyTag} {
					if !wok {
						want, wok = reference[southbound.Match{Dst: m.Dst, Src: src, Tag: tag}]
					}
				}
			}
			if got != want || ok != wok {
				t.Fatalf("seed %d: lookup of %v is %v, %v; want %v, %v", seed, m, got, ok, want, wok)
			}
			table = next
		}
	}
}

// redo applies edits one by one.
func redo(t Table, edits []Edit) Table {
	for _, e := range edits {
		if e.Gone {
			t, _ = t.Change(nil, []southbound.Match{e.Match}, false)
		} else {
			t, _ = t.Change([]southbound.Rule{e.Rule}, nil, false)
		}
	}
	return t
}

func TestChangeNamesTwice(t *testing.T) {
	r := southbound.Rule{Match: southbound.Match{Dst: 1, Tag: 2, Src: southbound.AnyRack}}
	if _, err := (Table)(nil).Change([]southbound.Rule{r, r}, nil, true); !errors.Is(err,
		southbound.ErrRefused) {
		t.Errorf("a rule named twice: %v", err)
	}
}

func TestCheckRule(t *testing.T) {
	sw := &Switch{Name: "tor0", Ports: []int{5, 0, 7}, Racks: 2}
	wide := *sw
	wide.Sources = true
	good := southbound.Rule{Match: southbound.Match{Dst: 1, Tag: 7, Src: southbound.AnyRack},
		Primary: 0, Backup: 2}
	for _, c := range []struct {
		name string
		edit func(*southbound.Rule)
		want error
	}{
		{"good", func(*southbound.Rule) {}, nil},
		{"without backup", func(r *southbound.Rule) { r.Backup = southbound.NoPort }, nil},
		{"any tag", func(r *southbound.Rule) { r.Tag = southbound.AnyTag }, nil},
		{"a source", func(r *southbound.Rule) { r.Src = 0 }, southbound.ErrUnsupported},
		{"a source beyond", func(r *southbound.Rule) { r.Src = 2 }, southbound.ErrUnsupported},
		{"a tag beyond", func(r *southbound.Rule) { r.Tag = 8 }, southbound.ErrRefused},
		{"a rack beyond", func(r *southbound.Rule) { r.Dst = 2 }, southbound.ErrRefused},
		{"a rack below", func(r *southbound.Rule) { r.Dst = -1 }, southbound.ErrRefused},
		{"a port without cable", func(r *southbound.Rule) { r.Primary = 1 }, southbound.ErrRefused},
		{"a backup beyond", func(r *southbound.Rule) { r.Backup = 3 }, southbound.ErrRefused},
		{"no primary", func(r *southbound.Rule) { r.Primary = southbound.NoPort }, southbound.ErrRefused},
	} {
		r := good
		c.edit(&r)
		if err := sw.CheckRule(r); !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	for src, want := range map[southbound.RackID]error{0: nil, 1: nil, 2: southbound.ErrRefused,
		-2: southbound.ErrRefused} {
		r := good
		r.Src = src
		if err := wide.CheckRule(r); !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("from rack %d: %v, want %v", src, err, want)
		}
	}
}
