package report

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestBrowser shows a report to a browser, small and large, light and dark: the page never scrolls
// sideways, only tables and pictures within it do. LIGHTLOOM_SHOTS names a folder for pictures.
func TestBrowser(t *testing.T) {
	at, err := exec.LookPath("chromium")
	switch must := strings.Contains(","+os.Getenv("LIGHTLOOM_MUST")+",", ",chromium,"); {
	case err != nil && must:
		t.Fatal(err)
	case err != nil || testing.Short():
		t.Skipf("no Chromium is there, or tests are to be short: %v", err)
	}
	r := sample(1)
	r.results[0].Faults, r.results[0].Received = faulty().Faults, faulty().Received
	html, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(page, html, 0o644); err != nil {
		t.Fatal(err)
	}
	alloc, stop := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(at), chromedp.NoSandbox, chromedp.Flag("disable-quic", true))...)
	t.Cleanup(stop)
	tab, closeTab := chromedp.NewContext(alloc)
	t.Cleanup(closeTab)
	ctx, end := context.WithTimeout(tab, time.Minute)
	t.Cleanup(end)
	for _, theme := range []string{"light", "dark"} {
		for _, wide := range []int64{400, 1400} {
			shown := show(t, ctx, page, theme, wide)
			if shown > wide {
				t.Errorf("%s, %d px: the page is %d px wide and scrolls sideways", theme, wide, shown)
			}
		}
	}
}

// show opens a page and returns how wide it is.
func show(t *testing.T, ctx context.Context, page, theme string, wide int64) int64 {
	t.Helper()
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(wide, 1000),
		chromedp.Navigate("file://"+page)); err != nil {
		t.Fatal(err)
	}
	got, err := chromedp.Run(ctx, chromedp.Evaluate[int64](`
		document.querySelectorAll("details").forEach((d) => (d.open = true)), document.documentElement.scrollWidth`))
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("LIGHTLOOM_SHOTS"); dir != "" {
		png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "report-"+theme+"-"+map[int64]string{400: "400", 1400: "1400"}[wide]+".png")
		if err := os.WriteFile(name, png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return got
}
