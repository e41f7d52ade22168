package page

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// measured reports whether a browser is measured: LIGHTLOOM_MEASURE=page, on a machine that does nothing else.
func measured(t *testing.T) bool {
	t.Helper()
	return os.Getenv("LIGHTLOOM_MEASURE") == "page"
}

// speed measures how long a page is blank, and how it goes on: the first paint of five visits, and for ten seconds the
// frames of the screen in each second and how many looks were shown.
func speed(t *testing.T, ctx context.Context, srv *Server) {
	t.Helper()
	const visits, atMost = 5, 300
	var paints []float64
	for range visits {
		must(t, chromedp.Do(ctx, chromedp.Navigate(srv.URL()), chromedp.WaitVisible(".ring")))
		paints = append(paints, eval[float64](t, ctx, `new Promise(done => { const look = () => {
			const all = performance.getEntriesByName("first-contentful-paint");
			all.length ? done(all[0].startTime) : requestAnimationFrame(look) }; look() })`))
	}
	slices.Sort(paints)
	if paints[visits/2] > atMost {
		t.Errorf("first paints after %.0f ms, want %d ms in the middle", paints, atMost)
	}
	got := eval[[]float64](t, ctx, `new Promise(done => {
		const cell = () => document.querySelector("[aria-labelledby=replicas] td.num").textContent, from = performance.now();
		let shown = 0, last = cell(), since = from, n = 0; const seconds = [];
		const frame = t => {
			n++;
			if (cell() !== last) shown++, (last = cell());
			if (t - since >= 1000) seconds.push(n * 1000 / (t - since)), (since = t), (n = 0);
			seconds.length < 10 ? requestAnimationFrame(frame) : done([Math.min(...seconds), shown * 1000 / (t - from)]);
		};
		requestAnimationFrame(frame) })`)
	t.Logf("first paints after %.0f ms; then for 10 s %.1f looks a second, and %.0f frames in the worst", paints,
		got[1], got[0])
	if got[0] < 30 || got[1] < 9.5 {
		t.Error("want 10 looks a second, and at least 30 frames in each")
	}
}

// asleep tells the page what a browser tells one that it puts to sleep: it lets go, and nobody looks any more. When it
// wakes, it is told what is so then.
func asleep(t *testing.T, ctx context.Context, srv *Server, s *scene) {
	t.Helper()
	eval[bool](t, ctx, `document.dispatchEvent(new Event("freeze"))`)
	for srv.hub.watched() {
		eval[bool](t, ctx, `new Promise(done => requestAnimationFrame(() => done(true)))`)
	}
	seen := s.at.Load()
	eval[bool](t, ctx, `document.dispatchEvent(new Event("resume"))`)
	await(t, ctx, fmt.Sprintf(`+document.querySelector("[aria-labelledby=replicas] td.num").textContent
		.replace(",", "") > %d`, seen))
}
