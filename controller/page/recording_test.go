package page

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// recordedScene is a recording of two rows of some looks of a scene.
func recordedScene(t *testing.T, spec string, looks int) *Recording {
	t.Helper()
	s := newScene(t, spec)
	r := &Recording{Of: s.Fabric(), Name: "demo, synthetic"}
	for _, name := range []string{"random+ecmp", "crosslayer+sunflow"} {
		row := Row{Policy: name}
		all := map[float64]*Look{}
		for range looks {
			l, err := s.Look(t.Context())
			must(t, err)
			l.Switches, l.Replicas = []Switch{}, []Replica{}
			row.Instants, all[l.Head.Now] = append(row.Instants, l.Head.Now), l
		}
		row.Look = func(at float64) *Look { return all[at] }
		r.Rows = append(r.Rows, row)
	}
	return r
}

// TestFrames: a row is sent as what changes from one instant to the next; what was not recorded is not
// there.
func TestFrames(t *testing.T) {
	one := &Look{Head: Head{Now: 1}}
	two := &Look{Head: Head{Now: 2}}
	row := Row{Policy: "a", Instants: []float64{1, 2, 2}, Look: func(at float64) *Look {
		if at == 1 {
			return one
		}
		return two
	}}
	srv, err := New(Config{Recording: &Recording{Name: "demo", Rows: []Row{row, {Policy: "b"}}},
		Address: "127.0.0.1:80"})
	must(t, err)
	get := func(n string, status int) []map[string]json.RawMessage {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/frames/"+n, nil)
		r.SetPathValue("row", n)
		if srv.frames(w, r); w.Code != status {
			t.Fatalf("row %s: %d %s", n, w.Code, w.Body)
		}
		var out []map[string]json.RawMessage
		if status == http.StatusOK {
			must(t, json.Unmarshal(w.Body.Bytes(), &out))
		}
		return out
	}
	got := get("0", http.StatusOK)
	if len(got) != 3 || len(got[0]) < 10 || len(got[1]) != 1 || got[1]["head"] == nil || len(got[2]) != 0 {
		t.Errorf("%d frames: %s", len(got), got)
	}
	if got := get("1", http.StatusOK); len(got) != 0 {
		t.Errorf("of no instants: %s", got)
	}
	for _, n := range []string{"2", "-1", "x"} {
		get(n, http.StatusNotFound)
	}
	var about recorded
	must(t, json.Unmarshal(srv.files["/fabric.json"].plain, &about))
	if about.Recorded != "demo" || len(about.Rows) != 2 || about.End != 2 {
		t.Errorf("%+v", about)
	}
}

// TestBrowserReplays: a browser shows a run that is over, in both themes: its time is gone through by
// keyboard, it plays, and its rows are chosen.
func TestBrowserReplays(t *testing.T) {
	r := recordedScene(t, "hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms", 60)
	for _, theme := range []string{"light", "dark"} {
		t.Run(theme, func(t *testing.T) { replayed(t, r, theme) })
	}
}

func replayed(t *testing.T, r *Recording, theme string) {
	ctx := open(t, theme, 1400, 1000)
	srv := servedBy(t, Config{Recording: r})
	must(t, chromedp.Do(ctx, chromedp.Navigate(srv.URL()), chromedp.WaitVisible(".ring")))
	at := func() string { return eval[string](t, ctx, `document.querySelector(".scrubber output").textContent`) }
	first := at()
	must(t, chromedp.Do(ctx, chromedp.Focus("#time"), chromedp.KeyEvent(kb.ArrowRight),
		chromedp.KeyEvent(kb.ArrowRight)))
	await(t, ctx, `document.querySelector(".scrubber output").textContent === "0.30 s"`)
	if first != "0.10 s" {
		t.Errorf("the run begins at %s, want 0.10 s", first)
	}
	axe(t, ctx)
	must(t, chromedp.Do(ctx, chromedp.Focus(".scrubber button"), chromedp.KeyEvent(kb.Enter)))
	await(t, ctx, `parseFloat(document.querySelector(".scrubber output").textContent) > 0.9`)
	must(t, chromedp.Do(ctx, chromedp.KeyEvent(kb.Enter))) // a pause
	await(t, ctx, `document.querySelector(".scrubber button").textContent === "Play"`)
	must(t, chromedp.Do(ctx, chromedp.Focus("#time"), chromedp.KeyEvent(kb.End)))
	await(t, ctx, `document.querySelector(".scrubber output").textContent === "6.00 s"`)
	for _, none := range []string{".past", "#switches", "#replicas", "#matrix", ".acts button"} {
		if eval[bool](t, ctx, `document.querySelector("`+none+`") !== null`) {
			t.Errorf("%s is shown of a run that is over", none)
		}
	}
	shoot(t, ctx, "replay-"+theme)
	eval[bool](t, ctx, `(() => { const s = document.querySelector(".spec select"); s.selectedIndex = 1;
		s.dispatchEvent(new Event("change", {bubbles: true})); return true })()`)
	await(t, ctx, `document.querySelector(".scrubber output").textContent === "6.10 s"`)
}

// servedBy serves a page until the test ends.
func servedBy(t *testing.T, cfg Config) *Server {
	t.Helper()
	ln := listen(t)
	cfg.Address = ln.Addr().String()
	srv, err := New(cfg)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return srv
}
