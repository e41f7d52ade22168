package maxmin

import "lightloom/pathmap"

// asks is the pending changes of classes: the last one for each class counts, in the order of the first.
type asks struct {
	all   []ask
	links []pathmap.LinkID
	of    []int32 // by class: its place in all, and one; 0 where nothing is asked
	seen  int32   // sum over classes read ahead of their turn; a use of it keeps the compiler from dropping the reads
}

// ask is the pending change of one class, on links[first:end] of asks.
type ask struct{ class, flows, first, end int32 }

func (a *asks) add(class int32, links []pathmap.LinkID, flows int32) {
	if n := int(class) + 1 - len(a.of); n > 0 {
		a.of = append(a.of, make([]int32, n)...)
	}
	if a.of[class] == 0 {
		a.all = append(a.all, ask{})
		a.of[class] = int32(len(a.all))
	}
	first := int32(len(a.links))
	a.links = append(a.links, links...)
	a.all[a.of[class]-1] = ask{class, flows, first, int32(len(a.links))}
}

func (a *asks) clear() {
	for i := range a.all {
		a.of[a.all[i].class] = 0
	}
	a.all, a.links = a.all[:0], a.links[:0]
}
