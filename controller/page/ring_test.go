package page

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestRing: the names around the ring are whole on screens small and large, spines are in the picture,
// and so is a link that has failed. The page does not scroll sideways.
func TestRing(t *testing.T) {
	for _, racks := range []int{2, 16, 20, 64} {
		t.Run(fmt.Sprint(racks, " racks"), func(t *testing.T) {
			s := newScene(t, fmt.Sprintf("hybrid:racks=%d,hosts=2,spines=4,eps=1Gbps,ocs=10Gbps,dark=10ms", racks))
			s.failed = []Failed{{"link", "tor1-spine2"}, {"switch", "spine0"}}
			srv := served(t, s, s.actions())
			ctx := open(t, map[bool]string{true: "dark", false: "light"}[racks%2 == 0], 1400, 1000)
			must(t, chromedp.Do(ctx, chromedp.Navigate(srv.URL()), chromedp.WaitVisible(".ring")))
			for _, wide := range []int64{400, 1400} {
				must(t, chromedp.Do(ctx, chromedp.EmulateViewport(wide, 1000)))
				await(t, ctx, fmt.Sprintf(`innerWidth === %d`, wide))
				await(t, ctx, fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, wide)) // once it is drawn anew
				shoot(t, ctx, fmt.Sprintf("ring-%d-%d", racks, wide))
				cut := eval[[]string](t, ctx, `(() => { const out = document.querySelector(".ring svg").getBoundingClientRect();
					return [...document.querySelectorAll(".ring .name")].filter((n) => { const b = n.getBoundingClientRect();
						return b.left < out.left || b.right > out.right || b.top < out.top || b.bottom > out.bottom })
						.map((n) => n.textContent) })()`)
				names := eval[int](t, ctx, `document.querySelectorAll(".ring .name").length`)
				if len(cut) > 0 || names != racks {
					t.Errorf("%d px: of %d names these are cut: %q", wide, names, cut)
				}
			}
			if got := eval[int](t, ctx, `document.querySelectorAll(".ring .spine").length`); got != 4 {
				t.Errorf("%d spines are drawn, want 4", got)
			}
			if got := eval[string](t, ctx, `document.querySelector(".ring .wires.broken").getAttribute("d")`); got == "" {
				t.Error("the failed link is not drawn")
			}
			if got := eval[int](t, ctx, `document.querySelectorAll(".ring .spine.broken").length`); got != 1 {
				t.Errorf("%d failed spines are drawn, want 1", got)
			}
		})
	}
}
