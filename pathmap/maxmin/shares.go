package maxmin

// A link that holds back many classes of flows changes the rate of all of them at once. Most of the other links on
// their paths are the same few: a host's link shares a hundred classes with each link between switches. So such a link
// is told once, of all flows that it has in common with the one that holds them back.

const (
	manyClasses = 24 // a link that holds back that many classes counts what it shares with others
	spread      = 2  // unless that is with more than a spread-th of as many links as these classes count
)

// shares is what a link that holds back many classes has in common with others.
type shares struct {
	with []share
	at   map[int32]int32 // by link: where in with
	from int32           // classes from which it is counted; after an attempt in vain twice as many
}

// share is flows that another link has in common with the one that holds them back.
type share struct{ flows, link int32 }

// sharesOf returns what a link shares with others if that is worth while, counted anew if it is not known; else nil.
func (s *Levels) sharesOf(l int32) []share {
	own := s.links[l].own
	if own < manyClasses/2 {
		s.forget(l)
		return nil
	}
	if s.shares == nil {
		if own < manyClasses {
			return nil
		}
		s.shares = make([]shares, len(s.links))
	}
	h := &s.shares[l]
	if len(h.with) == 0 && own >= max(h.from, manyClasses) {
		s.count(l)
	}
	return h.with
}

// count counts what a link shares with others.
func (s *Levels) count(l int32) {
	h, seats := &s.shares[l], 0
	h.at = map[int32]int32{}
	s.crowded++
	for _, o := range s.links[l].on[:s.links[l].own] {
		seats += len(s.linksOf(o.class))
		s.add(l, o.class, s.classes[o.class].flows)
	}
	s.work += int64(seats)
	if len(h.with)*spread > seats {
		s.forget(l)
		h.from = 2 * s.links[l].own
	}
}

// forget gives up what is known of shares.
func (s *Levels) forget(l int32) {
	if s.crowded > 0 && s.shares[l].with != nil {
		h := &s.shares[l]
		h.with, h.at, h.from = nil, nil, 0
		s.crowded--
	}
}

// add counts more flows, or fewer, of a class that a link holds back.
func (s *Levels) add(l, class, flows int32) {
	h := &s.shares[l]
	if h.at == nil {
		return
	}
	for _, p := range s.linksOf(class) {
		if p == l {
			continue
		}
		i, ok := h.at[p]
		if !ok {
			i = int32(len(h.with))
			h.at[p] = i
			h.with = append(h.with, share{link: p})
		}
		h.with[i].flows += flows
	}
}
