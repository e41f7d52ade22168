package live

import (
	"runtime"
	"slices"
	"sync"

	"lightloom/pathmap/internal/ksp"
)

// renewal is what repairing one row came to.
type renewal struct {
	target int32
	pairs  []uint32 // to look at; afterwards those that changed
}

// renew finds the paths of pairs, ascending, anew, makes next the map, and returns the pairs that
// changed, in the same memory: all of them, or those that use a cable that is back.
func (v *Paths) renew(next *ksp.Table, pairs []uint32, back *gainFilter) []uint32 {
	rows := splitRows(pairs)
	var mu sync.Mutex
	var workers []*renewer
	ksp.Each(len(rows), func() func(int) {
		w := &renewer{before: v.m, users: v.users, down: v.out, gate: back,
			Packer: ksp.NewPacker(next, v.back, v.local, v.inverse)}
		if back != nil && len(back.cables) == 1 {
			w.passage = newPassage(next.Graph, back)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(workers) == len(v.tallies) {
			v.tallies = append(v.tallies, newCableUse(len(v.out), next.Graph.Nodes()))
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
func (v *Paths) reindex(found []*renewer) {
	parts := int32(runtime.GOMAXPROCS(0))
	if !slices.ContainsFunc(found, func(w *renewer) bool { return len(w.changes) > 0 }) {
		return
	}
	ksp.Each(int(parts), func() func(int) {
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
		for ksp.PairOf(b-1, b) < pairs[i] {
			b++
		}
		j := i
		for j < len(pairs) && pairs[j] <= ksp.PairOf(b-1, b) {
			j++
		}
		rows = append(rows, renewal{target: b, pairs: pairs[i:j]})
		i = j
	}
	return rows
}

// renewer repairs rows, one after the other.
type renewer struct {
	ksp.Packer
	before  *ksp.Table
	gate    *gainFilter // nil: every pair has changed
	tally   *cableUse
	users   *users        // last and first: only the goroutine that repairs a row accesses those of its pairs
	down    []bool        // by cable
	spare   *ksp.Descents // room for a fan
	passage *passage      // of a gainFilter of one cable
	path    []int32
	counted int     // of via: how much of it cableUse has
	source  []int32 // of the row's blocks written anew
	at      []ksp.Span
	changes []usePair
}

// fanWorth is how many entries of a graph may be looked at to make a fan, for each pair that will be
// searched with it.
const fanWorth = 256

func (w *renewer) row(r *renewal) {
	m, t := w.Table, r.target
	w.Dist, w.Fan = m.Dist[t], nil
	w.tally.aim(w.before, t, w.Back)
	if w.gate != nil {
		r.pairs = w.pass(r.pairs, t)
	}
	if w.gate != nil && w.passage == nil && len(r.pairs)*fanWorth >= len(m.Graph.To) {
		if w.spare == nil {
			w.spare = ksp.NewDescents(m.Graph.Nodes())
		}
		w.Fan = w.spare
		w.Fan.Fill(m.Graph, m.Node[t], w.Back)
	}
	w.Out.Reset()
	w.source, w.at = w.source[:0], w.at[:0]
	changed := r.pairs[:0]
	for _, n := range r.pairs {
		s := int32(n - ksp.PairOf(0, t))
		if w.gate == nil {
			w.lose(s, t)
		} else if !w.gain(s, t) {
			continue
		}
		begin := w.Out.At()
		w.Write()
		w.source, w.at = append(w.source, s), append(w.at, ksp.Span{At: begin, Size: w.Out.At() - begin})
		w.compare(n)
		changed = append(changed, n)
	}
	if r.pairs = changed; len(changed) > 0 {
		m.Rows[t] = m.Rows[t].Patched(w.source, w.at, &w.Out, int(t), m.Form)
	}
}

// lose finds the paths of a pair that has lost some: the others keep their order, and those that step
// in rank after the last that there was.
func (w *renewer) lose(s, t int32) {
	last, all := w.keep(s, t)
	if all {
		return
	}
	b := w.Walk(s, t)
	if len(w.End) > 0 && !w.Table.Graph.Leafy {
		b.Far = w.End[0] // the first that stands is the shortest that there was, and distances do not shrink
	}
	w.Gather(s, t, &b, b.After(w.Stack[:0], last, w.Inverse))
}

// keep takes over the paths of a pair that stand. It returns the last that there was, borrowed until
// the next call, and whether there were no others, and tallies all.
func (w *renewer) keep(s, t int32) (last []int32, all bool) {
	before, g, f := w.before.Graph, w.Table.Graph, w.Table.Form
	w.Via, w.End = w.Via[:0], w.End[:0]
	w.tally.begin()
	in := w.before.Rows[t].Block(s, f)
	paths := int(in.Take(f.Count)) // at least one, or no cable could matter to the pair
	length := in.Gamma()
	for i := range paths {
		length += in.Unary()
		begin := len(w.Via)
		w.Via = in.Via(w.Via, before, f, w.Table.Node[s], w.tally.into, length)
		path, stands := w.Via[begin:], true
		for _, e := range path {
			u := w.tally.of(g.Link[e])
			u.before = true
			u.paths++
			stands = stands && g.To[e] == before.To[e]
		}
		if i == paths-1 {
			w.path = append(w.path[:0], path...)
		}
		if !stands {
			w.tally.add(g, path, -1)
			w.Via = w.Via[:begin]
			continue
		}
		w.End = append(w.End, int32(len(w.Via)))
	}
	w.counted = len(w.Via)
	return w.path, paths < w.Table.K
}

// gain finds the paths of a pair to which a cable has come back, and reports whether it has any over that.
func (w *renewer) gain(s, t int32) bool {
	last := int32(w.users.last[ksp.PairOf(s, t)])
	if w.passage == nil || last == open || !w.passage.run(w.Table.Node[s], w.Table.Node[t], w.Dist, last) {
		w.Paths(s, t)
		if !w.gate.uses(w.Via) {
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
	o, gained := w.Table.Order(s, t), false
	begin := int32(0)
	for _, end := range w.passage.end {
		gained = w.insert(o, w.passage.via[begin:end]) || gained
		begin = end
	}
	return gained
}

// insert puts a path among the k first that there are, where it is one of them.
func (w *renewer) insert(o ksp.Order, path []int32) bool {
	at := len(w.End)
	for at > 0 && w.compareVia(o, path, w.pathAt(at-1)) < 0 {
		at--
	}
	if at == len(w.End) {
		return false
	}
	evicted := w.pathAt(len(w.End) - 1)
	w.tally.add(w.Table.Graph, evicted, -1)
	w.tally.add(w.Table.Graph, path, 1)
	w.Via = w.Via[:len(w.Via)-len(evicted)]
	w.End = w.End[:len(w.End)-1]
	begin := 0
	if at > 0 {
		begin = int(w.End[at-1])
	}
	w.Via = slices.Insert(w.Via, begin, path...)
	w.End = slices.Insert(w.End, at, int32(begin))
	for i := at; i < len(w.End); i++ {
		w.End[i] += int32(len(path))
	}
	w.counted = len(w.Via)
	return true
}

// pathAt returns one of the paths found.
func (w *renewer) pathAt(i int) []int32 {
	begin := int32(0)
	if i > 0 {
		begin = w.End[i-1]
	}
	return w.Via[begin:w.End[i]]
}

// compareVia orders two paths of a pair: by length, then by the entries taken where they part.
func (w *renewer) compareVia(o ksp.Order, a, b []int32) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	g, n := w.Table.Graph, int32(-1)
	for depth := range a {
		if a[depth] == b[depth] {
			n = g.To[a[depth]]
			continue
		}
		if n < 0 {
			n = g.To[w.Back[a[depth]]]
		}
		p := g.Prime[g.Degree(n)]
		first, stride := o.At(depth, p)
		inv := w.Inverse[g.Degree(n)][stride]
		return int(ksp.RankOf(a[depth]-g.Start[n], first, inv, p)) - int(ksp.RankOf(b[depth]-g.Start[n],
			first, inv, p))
	}
	return 0
}

// pass returns the pairs to the end with rank t that the filter lets pass, in the same memory.
func (w *renewer) pass(pairs []uint32, t int32) []uint32 {
	passed := pairs[:0]
	for _, n := range pairs {
		s := int32(n - ksp.PairOf(0, t))
		if w.gate.length(w.Table.Node[s], w.Table.Node[t]) != int32(w.users.last[n]) || w.gate.admits(w, s, t) {
			passed = append(passed, n)
		}
	}
	return passed
}

// compare records the cables that the pair with the paths found uses now and did not before, and the
// other way round, and how its last path is.
func (w *renewer) compare(n uint32) {
	w.tally.add(w.Table.Graph, w.Via[w.counted:], 1)
	last, first := 0, int32(0)
	if k := len(w.End); k > 0 {
		path := w.pathAt(k - 1)
		last, first = len(path), w.Local[path[0]]
	}
	w.users.last[n], w.users.first[n] = lastOf(len(w.End), last, w.Table.K, first)
	for _, c := range w.tally.cables {
		u := &w.tally.use[c]
		uses := u.paths > 0
		if uses == u.before || w.down[c] { // of what is down, the index has forgotten all
			continue
		}
		u.before = uses // it may come back
		if !w.users.mark(c, n, uses) {
			w.changes = append(w.changes, usePair{c, n, uses})
		}
	}
}

// last returns the last of a pair's k paths before the repair, as entries. It is valid until the next call.
func (w *renewer) last(s, t int32) []int32 {
	m, f := w.before, w.Table.Form
	in := m.Rows[t].Block(s, f)
	paths := int(in.Take(f.Count))
	length := in.Gamma()
	for i := range paths {
		length += in.Unary()
		if i < paths-1 {
			in.At += (length - f.Last) * f.Entry
		}
	}
	w.path = in.Via(w.path[:0], m.Graph, f, m.Node[s], w.tally.into, length)
	return w.path
}
