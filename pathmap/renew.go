package pathmap

import (
	"runtime"
	"slices"
	"sync"
)

// renewal is what repairing one row came to.
type renewal struct {
	target int32
	pairs  []uint32 // to look at; afterwards those that changed
}

// renew finds the paths of pairs, ascending, anew, makes next the map, and returns the pairs that changed, in the same
// memory: all of them, or those that use a cable that is back.
func (v *Live) renew(next *Map, pairs []uint32, back *gate) []uint32 {
	rows := splitRows(pairs)
	var mu sync.Mutex
	var workers []*renewer
	each(len(rows), func() func(int) {
		w := &renewer{before: v.m, users: v.users, down: v.out, gate: back,
			packer: packer{m: next, back: v.back, inverse: v.inverse, local: v.local, stack: make(stack, 0, inline)}}
		if back != nil && len(back.cables) == 1 {
			w.passage = newPassage(next.g, back)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(workers) == len(v.tallies) {
			v.tallies = append(v.tallies, newTally(len(v.out), next.g.nodes()))
		}
		w.tally = v.tallies[len(workers)]
		workers = append(workers, w)
		return func(i int) { w.row(&rows[i]) }
	})
	changed := pairs[:0]
	for _, r := range rows {
		changed = append(changed, r.pairs...)
	}
	v.reindex(workers)
	v.m = next
	return changed
}

// reindex brings what could not be marked at once in line with what renewers have found.
func (v *Live) reindex(found []*renewer) {
	parts := int32(runtime.GOMAXPROCS(0))
	if !slices.ContainsFunc(found, func(w *renewer) bool { return len(w.changes) > 0 }) {
		return
	}
	each(int(parts), func() func(int) {
		return func(part int) {
			for _, w := range found {
				for _, u := range w.changes {
					if u.cable%parts == int32(part) {
						v.users.change(u)
					}
				}
			}
		}
	})
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
	before  *Map
	gate    *gate // nil: every pair has changed
	tally   *tally
	users   *users   // last and first: of a row's pairs, only who repairs it reads and writes them
	down    []bool   // by cable
	spare   *fan     // room for a fan
	passage *passage // of a gate of one cable
	path    []int32
	counted int     // of via: how much of it the tally has
	source  []int32 // of the row's blocks written anew
	at      []span
	changes []usePair
}

// fanWorth is how many entries of a graph may be looked at to make a fan, for each pair that will be searched with it.
const fanWorth = 256

func (w *renewer) row(r *renewal) {
	m, t := w.m, r.target
	w.dist, w.fan = m.dist[t], nil
	w.tally.aim(w.before, t, w.back)
	if w.gate != nil {
		r.pairs = w.pass(r.pairs, t)
	}
	if w.gate != nil && w.passage == nil && len(r.pairs)*fanWorth >= len(m.g.to) {
		if w.spare == nil {
			w.spare = newFan(m.g.nodes())
		}
		w.fan = w.spare
		w.fan.fill(m.g, m.node[t], w.back)
	}
	w.out.reset()
	w.source, w.at = w.source[:0], w.at[:0]
	changed := r.pairs[:0]
	for _, n := range r.pairs {
		s := int32(n - pairOf(0, t))
		if w.gate == nil {
			w.lose(s, t)
		} else if !w.gain(s, t) {
			continue
		}
		begin := w.out.at()
		w.write()
		w.source, w.at = append(w.source, s), append(w.at, span{begin, w.out.at() - begin})
		w.compare(n)
		changed = append(changed, n)
	}
	if r.pairs = changed; len(changed) > 0 {
		m.rows[t] = m.rows[t].patched(w.source, w.at, &w.out, int(t), m.form)
	}
}

// lose finds the paths of a pair that has lost some: the others keep their order, and those that step in rank after the
// last that there was.
func (w *renewer) lose(s, t int32) {
	last, all := w.keep(s, t)
	if all {
		return
	}
	b := w.walk(s, t)
	if len(w.end) > 0 && !w.m.g.leafy {
		b.far = w.end[0] // the first that stands is the shortest that there was, and distances do not shrink
	}
	w.gather(s, t, &b, b.after(w.stack[:0], last, w.inverse))
}

// keep takes over the paths of a pair that stand. It returns the last that there was, borrowed until the next call, and
// whether there were no others, and tallies all.
func (w *renewer) keep(s, t int32) (last []int32, all bool) {
	before, g, f := w.before.g, w.m.g, w.m.form
	w.via, w.end = w.via[:0], w.end[:0]
	w.tally.begin()
	in := w.before.rows[t].block(s, f)
	paths := int(in.take(f.count)) // at least one, or no cable could matter to the pair
	length := in.gamma()
	for i := range paths {
		length += in.unary()
		begin := len(w.via)
		w.via = in.via(w.via, before, f, w.m.node[s], w.tally.into, length)
		path, stands := w.via[begin:], true
		for _, e := range path {
			u := w.tally.of(g.link[e])
			u.before = true
			u.paths++
			stands = stands && g.to[e] == before.to[e]
		}
		if i == paths-1 {
			w.path = append(w.path[:0], path...)
		}
		if !stands {
			w.tally.add(g, path, -1)
			w.via = w.via[:begin]
			continue
		}
		w.end = append(w.end, int32(len(w.via)))
	}
	w.counted = len(w.via)
	return w.path, paths < w.m.k
}

// gain finds the paths of a pair to which a cable has come back, and says whether it has any over that.
func (w *renewer) gain(s, t int32) bool {
	last := int32(w.users.last[pairOf(s, t)])
	if w.passage == nil || last == open || !w.passage.run(w.m.node[s], w.m.node[t], w.dist, last) {
		w.paths(s, t)
		if !w.gate.uses(w.via) {
			return false
		}
		w.tally.decode(w.before, s)
		w.counted = 0
		return true
	}
	if len(w.passage.end) == 0 {
		return false
	}
	w.keep(s, t)
	o, gained := w.m.order(s, t), false
	begin := int32(0)
	for _, end := range w.passage.end {
		gained = w.insert(o, w.passage.via[begin:end]) || gained
		begin = end
	}
	return gained
}

// insert puts a path among the k first that there are, where it is one of them.
func (w *renewer) insert(o order, path []int32) bool {
	at := len(w.end)
	for at > 0 && w.compareVia(o, path, w.pathAt(at-1)) < 0 {
		at--
	}
	if at == len(w.end) {
		return false
	}
	evicted := w.pathAt(len(w.end) - 1)
	w.tally.add(w.m.g, evicted, -1)
	w.tally.add(w.m.g, path, 1)
	w.via = w.via[:len(w.via)-len(evicted)]
	w.end = w.end[:len(w.end)-1]
	begin := 0
	if at > 0 {
		begin = int(w.end[at-1])
	}
	w.via = slices.Insert(w.via, begin, path...)
	w.end = slices.Insert(w.end, at, int32(begin))
	for i := at; i < len(w.end); i++ {
		w.end[i] += int32(len(path))
	}
	w.counted = len(w.via)
	return true
}

// pathAt returns one of the paths found.
func (w *renewer) pathAt(i int) []int32 {
	begin := int32(0)
	if i > 0 {
		begin = w.end[i-1]
	}
	return w.via[begin:w.end[i]]
}

// compareVia orders two paths of a pair: by length, then by the entries taken where they part.
func (w *renewer) compareVia(o order, a, b []int32) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	g, n := w.m.g, int32(None)
	for depth := range a {
		if a[depth] == b[depth] {
			n = g.to[a[depth]]
			continue
		}
		if n == None {
			n = g.to[w.back[a[depth]]]
		}
		p := g.prime[g.degree(n)]
		first, stride := o.at(depth, p)
		inv := w.inverse[g.degree(n)][stride]
		return int(rankOf(a[depth]-g.start[n], first, inv, p)) - int(rankOf(b[depth]-g.start[n], first, inv, p))
	}
	return 0
}

// pass returns the pairs to the end with rank t that the gate lets pass, in the same memory.
func (w *renewer) pass(pairs []uint32, t int32) []uint32 {
	passed := pairs[:0]
	for _, n := range pairs {
		s := int32(n - pairOf(0, t))
		if w.gate.length(w.m.node[s], w.m.node[t]) != int32(w.users.last[n]) || w.gate.admits(w, s, t) {
			passed = append(passed, n)
		}
	}
	return passed
}

// compare notes the cables that the pair with the paths found uses now and did not before, and the other way round, and
// how its last path is.
func (w *renewer) compare(n uint32) {
	w.tally.add(w.m.g, w.via[w.counted:], 1)
	last, first := 0, int32(0)
	if k := len(w.end); k > 0 {
		path := w.pathAt(k - 1)
		last, first = len(path), w.local[path[0]]
	}
	w.users.last[n], w.users.first[n] = lastOf(len(w.end), last, w.m.k, first)
	for _, c := range w.tally.cables {
		u := &w.tally.use[c]
		uses := u.paths > 0
		if uses == u.before || w.down[c] { // of what is down, the index has forgotten all
			continue
		}
		u.before = uses // it may come again
		if !w.users.mark(c, n, uses) {
			w.changes = append(w.changes, usePair{c, n, uses})
		}
	}
}

// last returns the last of a pair's k paths before the repair, as entries. It is valid until the next call.
func (w *renewer) last(s, t int32) []int32 {
	m, f := w.before, w.m.form
	in := m.rows[t].block(s, f)
	paths := int(in.take(f.count))
	length := in.gamma()
	for i := range paths {
		length += in.unary()
		if i < paths-1 {
			in.at += (length - f.last) * f.entry
		}
	}
	w.path = in.via(w.path[:0], m.g, f, m.node[s], w.tally.into, length)
	return w.path
}
