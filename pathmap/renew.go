package pathmap

// renewal is what repairing one row came to.
type renewal struct {
	target  int32
	pairs   []uint32 // to look at; afterwards those that changed
	fresh   packedRow
	last    []uint16  // by pair that changed
	add     []usePair // cables that pairs use now and did not before
	dropped []usePair
}

// usePair is a pair and a cable that it uses.
type usePair struct {
	cable int32
	pair  uint32
}

// renew finds the paths of pairs, ascending, anew, makes next the map, and returns the pairs that changed: all of them,
// or those that use a cable that is back.
func (v *Live) renew(next *Map, pairs []uint32, back *gate) []uint32 {
	rows := splitRows(pairs)
	each(len(rows), func() func(int) {
		w := renewer{before: v.m, ends: v.users.last, older: newDecoder(len(v.out)), newer: newDecoder(len(v.out)),
			gate: back, packer: packer{m: next, back: v.back, inverse: v.inverse, local: v.local, stack: make(stack, 0, inline)}}
		return func(i int) { w.row(&rows[i]) }
	})
	changed := make([]uint32, 0, len(pairs))
	for i := range rows {
		r := &rows[i]
		if len(r.pairs) == 0 {
			continue
		}
		next.rows[r.target] = r.fresh
		for j, n := range r.pairs {
			v.users.last[n] = r.last[j]
		}
		for _, u := range r.dropped {
			if !v.out[u.cable] {
				v.users.drop(u.cable, u.pair)
			}
		}
		for _, u := range r.add {
			v.users.add(u.cable, u.pair)
		}
		changed = append(changed, r.pairs...)
	}
	v.m = next
	return changed
}

// splitRows groups ascending pairs by their row.
func splitRows(pairs []uint32) []renewal {
	var rows []renewal
	b := int32(1)
	for i := 0; i < len(pairs); {
		for pairOf(b-1, b) < pairs[i] {
			b++
		}
		j := i
		for j < len(pairs) && pairs[j] <= pairOf(b-1, b) {
			j++
		}
		rows = append(rows, renewal{target: b, pairs: pairs[i:j]})
		i = j
	}
	return rows
}

// renewer repairs rows, one after the other.
type renewer struct {
	packer
	before       *Map
	gate         *gate // nil: every pair has changed
	older, newer decoder
	spare        *fan     // room for a fan
	ends         []uint16 // users.last
	links        []LinkID
	path         []int32
}

// fanWorth is how many entries of a graph may be looked at to make a fan, for each pair that will be searched with it.
const fanWorth = 256

func (w *renewer) row(r *renewal) {
	m, t := w.m, r.target
	w.dist, w.fan = m.dist[t], nil
	if w.gate != nil {
		r.pairs = w.pass(r.pairs, t)
	}
	if len(r.pairs)*fanWorth >= len(m.g.to) {
		if w.spare == nil {
			w.spare = newFan(m.g.nodes())
		}
		w.fan = w.spare
		w.fan.fill(m.g, m.node[t], w.back)
	}
	w.out.reset()
	fresh := &patch{source: make([]int32, 0, len(r.pairs)), at: make([]int, 0, len(r.pairs)+1)}
	r.last = make([]uint16, 0, len(r.pairs))
	changed := make([]uint32, 0, len(r.pairs))
	for _, n := range r.pairs {
		s := int32(n - pairOf(0, t))
		w.paths(s, t)
		if w.gate != nil && !w.gate.uses(w.via) {
			continue
		}
		fresh.source, fresh.at = append(fresh.source, s), append(fresh.at, w.out.at())
		w.write()
		w.compare(r, n, s)
		changed = append(changed, n)
	}
	r.pairs = changed
	if len(changed) == 0 {
		return
	}
	fresh.at = append(fresh.at, w.out.at())
	fresh.bits = w.out.take()
	r.fresh = m.rows[t].patched(fresh, int(t), m.form)
}

// pass returns the pairs to the end with rank t that the gate lets pass.
func (w *renewer) pass(pairs []uint32, t int32) []uint32 {
	passed := make([]uint32, 0, len(pairs))
	for _, n := range pairs {
		s := int32(n - pairOf(0, t))
		if w.gate.length(w.m.node[s], w.m.node[t]) != int32(w.ends[n]) || w.gate.admits(w, s, t) {
			passed = append(passed, n)
		}
	}
	return passed
}

// compare notes the cables that the pair with the paths found uses now and did not before, and the other way round.
func (w *renewer) compare(r *renewal, n uint32, s int32) {
	w.older.decode(w.before, s, r.target)
	w.newer.begin()
	for _, e := range w.via {
		w.newer.note(w.m.g.link[e])
	}
	last := 0
	if k := len(w.end); k > 1 {
		last = int(w.end[k-1] - w.end[k-2])
	} else if k == 1 {
		last = int(w.end[0])
	}
	r.last = append(r.last, lastOf(len(w.end), last, w.m.k))
	for _, c := range w.older.cables {
		if !w.newer.has(c) {
			r.dropped = append(r.dropped, usePair{c, n})
		}
	}
	for _, c := range w.newer.cables {
		if !w.older.has(c) {
			r.add = append(r.add, usePair{c, n})
		}
	}
}

// last returns the last of a pair's k paths before the repair, as entries. It is valid until the next call.
func (w *renewer) last(s, target int32) []int32 {
	w.links, _ = w.before.unpack(w.links[:0], s, target, w.m.k-1)
	w.path = w.path[:0]
	for _, l := range w.links {
		w.path = append(w.path, w.gate.entry[l])
	}
	return w.path
}
