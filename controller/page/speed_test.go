package page

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
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
	t.Logf("first paints after %.0f ms; then for 10 s %.1f looks a second, and %.0f frames in the worst", paints, got[1], got[0])
	if got[0] < 30 || got[1] < 9.5 {
		t.Error("want 10 looks a second, and at least 30 frames in each")
	}
}

// asleep freezes the page as a browser freezes what nobody looks at, for longer than the server waits for a reader, and
// sees that it goes on with what is so then.
func asleep(t *testing.T, ctx context.Context, s *scene) {
	t.Helper()
	set := func(state page.SetWebLifecycleStateState) {
		t.Helper()
		_, err := chromedp.Call(ctx, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: state})
		must(t, err)
	}
	set(page.SetWebLifecycleStateStateFrozen)
	select {
	case <-ctx.Done():
	case <-time.After(2 * writeWithin):
	}
	set(page.SetWebLifecycleStateStateActive)
	woken := s.at.Load()
	await(t, ctx, fmt.Sprintf(`+document.querySelector("[aria-labelledby=replicas] td.num").textContent.replace(",", "") > %d`,
		woken))
}
