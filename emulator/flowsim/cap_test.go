package flowsim

import (
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// capped starts a coflow whose rows send at most the rates of caps, in Mb/s; 0: no cap.
func capped(t testing.TB, s *Sim, c southbound.CoflowID, caps []pathmap.BitsPerSecond, rows ...row) {
	t.Helper()
	st := southbound.Start{Coflow: c}
	for i, r := range rows {
		st.Src, st.Dst = append(st.Src, r.src), append(st.Dst, r.dst)
		st.Size, st.Tag = append(st.Size, r.size), append(st.Tag, r.tag)
		st.Cap = append(st.Cap, caps[i]*pathmap.Mbps)
	}
	if err := s.Host().Start([]southbound.Start{st}); err != nil {
		t.Fatal(err)
	}
}

// TestCaps: a row with a cap sends at most that, however its coflow is paced, and what it leaves others
// have. All links have 100 Mb/s; 1 MB is 8 Mb.
func TestCaps(t *testing.T) {
	type caps = []pathmap.BitsPerSecond
	cases := []struct {
		name string
		run  func(t *testing.T, s *Sim)
		want map[southbound.HostFlowKey]time.Duration
	}{{
		name: "fair beside another", // 20 and 80: 100 ms for the other; 8 Mb at 20 are 400 ms
		run: func(t *testing.T, s *Sim) {
			rates(t, s, southbound.Rates{Fair: true})
			start(t, s, 0, row{1, 3, mb, 1})
			capped(t, s, 1, caps{20}, row{0, 2, mb, 1})
		},
		want: map[southbound.HostFlowKey]time.Duration{key(0, 0): 100 * ms, key(1, 0): 400 * ms},
	}, {
		name: "fair, of one coflow some rows, and a cap that never binds", // 0→2 at 20, 0→3 and 1→3 to share host 3's link
		run: func(t *testing.T, s *Sim) {
			rates(t, s, southbound.Rates{Fair: true})
			capped(t, s, 1, caps{20, 0, 500}, row{0, 2, mb, 1}, row{0, 3, mb, 2}, row{1, 3, mb, 2})
		},
		want: map[southbound.HostFlowKey]time.Duration{key(1, 0): 400 * ms, key(1, 1): 160 * ms,
			key(1, 2): 160 * ms},
	}, {
		name: "fair, one more comes while the first sends, and a third in its place", // 20 Mb/s each
		run: func(t *testing.T, s *Sim) {
			rates(t, s, southbound.Rates{Fair: true})
			capped(t, s, 1, caps{20}, row{0, 2, mb, 1})
			s.At(100*ms, func() { capped(t, s, 2, caps{40}, row{1, 3, mb, 1}) })
			s.At(500*ms, func() { capped(t, s, 3, caps{80}, row{0, 2, mb, 1}) })
		},
		want: map[southbound.HostFlowKey]time.Duration{key(1, 0): 400 * ms, key(2, 0): 300 * ms,
			key(3, 0): 600 * ms},
	}, {
		name: "a pace that is slower, then one that is faster", // 50 ms at 10 leave 7.5 Mb; the cap takes 375 ms for them
		run: func(t *testing.T, s *Sim) {
			capped(t, s, 1, caps{20}, row{0, 2, mb, 1})
			rates(t, s, southbound.Rates{Pace: []southbound.Pace{{Coflow: 1, Until: 800 * ms}}})
			s.At(50*ms, func() {
				rates(t, s, southbound.Rates{Pace: []southbound.Pace{{Coflow: 1,
					Until: 60 * ms}}})
			})
		},
		want: map[southbound.HostFlowKey]time.Duration{key(1, 0): 425 * ms},
	}, {
		name: "a spread above it", // the other row has its 60
		run: func(t *testing.T, s *Sim) {
			capped(t, s, 1, caps{20, 0}, row{0, 2, mb, 1}, row{1, 3, 3 * mb / 4, 1})
			rates(t, s, southbound.Rates{Spread: []southbound.Spread{{Coflow: 1,
				From: []southbound.HostRate{{Host: 0, Rate: 40 * pathmap.Mbps}, {Host: 1, Rate: 60 * pathmap.Mbps}},
				To: []southbound.HostRate{{Host: 2, Rate: 90 * pathmap.Mbps},
					{Host: 3, Rate: 90 * pathmap.Mbps}}}}})
		},
		want: map[southbound.HostFlowKey]time.Duration{key(1, 0): 400 * ms, key(1, 1): 100 * ms},
	}, {
		name: "rates of pairs, below and above", // 100 ms at 10 leave 7 Mb, 350 ms at 20
		run: func(t *testing.T, s *Sim) {
			capped(t, s, 1, caps{20}, row{0, 2, mb, 1})
			rates(t, s, southbound.Rates{Pairs: []southbound.PairRate{{Src: 0, Dst: 2, Tag: 1,
				Rate: 10 * pathmap.Mbps}}})
			s.At(100*ms, func() {
				rates(t, s, southbound.Rates{Pairs: []southbound.PairRate{{Src: 0, Dst: 2, Tag: 1,
					Rate: 90 * pathmap.Mbps}}})
			})
		},
		want: map[southbound.HostFlowKey]time.Duration{key(1, 0): 450 * ms},
	}, {
		name: "steered elsewhere, held, and sent on", // 100 ms at 20, 100 on the other spine, 100 held, 200 more
		run: func(t *testing.T, s *Sim) {
			rates(t, s, southbound.Rates{Fair: true})
			capped(t, s, 1, caps{20}, row{0, 2, mb, 1})
			for at, tag := range map[time.Duration]southbound.Tag{100 * ms: 2,
				200 * ms: southbound.TagHold, 300 * ms: 1} {
				s.At(at, func() {
					if err := s.Host().Steer([]southbound.Steer{{HostFlowKey: key(1, 0), Tag: tag}}); err != nil {
						t.Error(err)
					}
				})
			}
		},
		want: map[southbound.HostFlowKey]time.Duration{key(1, 0): 500 * ms},
	}, {
		name: "from fair to paced and back", // 100 ms at 20 leave 6 Mb; paced at 10 for 100 ms leaves 5; fair again: 250 ms
		run: func(t *testing.T, s *Sim) {
			rates(t, s, southbound.Rates{Fair: true})
			capped(t, s, 1, caps{20}, row{0, 2, mb, 1})
			s.At(100*ms, func() {
				rates(t, s, southbound.Rates{Pace: []southbound.Pace{{Coflow: 1,
					Until: 700 * ms}}})
			})
			s.At(200*ms, func() { rates(t, s, southbound.Rates{Fair: true}) })
		},
		want: map[southbound.HostFlowKey]time.Duration{key(1, 0): 450 * ms},
	}}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := simulate(t, fabric(t, small), Options{NoHeaders: true})
			wire(t, s)
			c.run(t, s)
			got := ends(advance(t, s, 2*time.Second))
			if len(got) != len(c.want) {
				t.Errorf("%d ends, want %d", len(got), len(c.want))
			}
			for k, at := range c.want {
				if d := got[k] - at; d < 0 || d > 10 {
					t.Errorf("row %d of coflow %d ended at %v, want %v", k.Row, k.Coflow, got[k], at)
				}
			}
		})
	}
}

// TestCapRefused: caps are as many as rows, and none is below zero.
func TestCapRefused(t *testing.T) {
	s := simulate(t, fabric(t, small), Options{})
	for _, caps := range [][]pathmap.BitsPerSecond{{}, {-1}, {1, 2}} {
		st := southbound.Start{Coflow: 1, Src: []southbound.HostID{0}, Dst: []southbound.HostID{2},
			Size: []pathmap.Bytes{1},
			Tag:  []southbound.Tag{0}, Cap: caps}
		if err := s.Host().Start([]southbound.Start{st}); err == nil {
			t.Errorf("caps %v are taken", caps)
		}
	}
}
