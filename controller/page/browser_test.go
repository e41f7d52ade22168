package page

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// browser returns the path of Chromium. Without it a test is skipped, unless LIGHTLOOM_MUST names it.
func browser(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("short")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if at, err := exec.LookPath(name); err == nil {
			return at
		}
	}
	const why = "no Chromium is there: apt-get install chromium"
	if strings.Contains(","+os.Getenv("LIGHTLOOM_MUST")+",", ",chromium,") {
		t.Fatal(why)
	}
	t.Skip(why)
	return ""
}

// open starts a browser, in which whatever the console says is an error of the test.
func open(t *testing.T, theme string, wide, high int64) context.Context {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser(t)), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, end := context.WithTimeout(ctx, time.Minute)
	t.Cleanup(end)
	must(t, chromedp.Do(ctx, chromedp.EmulateViewport(wide, high)))
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}}); err != nil {
		t.Fatal(err)
	}
	said := chromedp.Console(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for m, err := range said {
			if err == nil && (m.Type == "error" || m.Type == "warning" || m.Type == chromedp.ConsoleException) {
				t.Errorf("the console says %s: %s", m.Type, m.Text)
			}
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eval[T any](t *testing.T, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}

// served serves a page of a source until the test ends.
func served(t *testing.T, s Source, a Actions) *Server {
	t.Helper()
	return servedBy(t, Config{Source: s, Actions: a})
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	return ln
}

// shoot keeps a picture where LIGHTLOOM_SHOTS names a directory.
func shoot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("LIGHTLOOM_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

// TestBrowser shows the page to a browser, small and large, light and dark: nothing is said in the console, what
// follows from the looks is there, axe's rules hold, it is drawn in time, and everything can be done by keyboard.
func TestBrowser(t *testing.T) {
	for _, x := range []struct {
		name, spec, theme string
	}{{"8light", "hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms", "light"},
		{"1024dark", "hybrid:racks=1024,hosts=2,spines=4,eps=1Gbps,ocs=10Gbps,dark=10ms", "dark"}} {
		t.Run(x.name, func(t *testing.T) {
			s := newScene(t, x.spec)
			srv := served(t, s, s.actions())
			ctx := open(t, x.theme, 1400, 1000)
			must(t, chromedp.Do(ctx, chromedp.Navigate(srv.URL()), chromedp.WaitVisible(".ring")))
			if got := eval[int](t, ctx, `document.querySelectorAll("h2").length`); got < 7 {
				t.Errorf("%d headings, want those of 8 cards", got)
			}
			if back := eval[string](t, ctx, `getComputedStyle(document.documentElement).backgroundColor`); (back ==
				"rgb(13, 17, 23)") != (x.theme == "dark") {
				t.Errorf("the background is %s in the %s theme", back, x.theme)
			}
			if measured(t) {
				speed(t, ctx, srv)
			}
			asleep(t, ctx, srv, s)
			byKeys(t, ctx, s)
			eval[bool](t, ctx, `document.querySelector("[aria-label='List of jobs'] button").click() === undefined`)
			await(t, ctx, `(document.querySelector(".reasons li") || document.body).textContent
				.includes("the nearest free slot for job")`)
			doings(t, ctx, s)
			if s.f.Racks > 8 {
				await(t, ctx, `document.querySelector(".legend").textContent.includes("one of 8 is drawn")`)
			}
			shoot(t, ctx, x.name)
			axe(t, ctx)
			other := map[string]string{"light": "dark", "dark": "light"}[x.theme]
			eval[bool](t, ctx, `[...document.querySelectorAll(".top button")].pop().click() === undefined`)
			await(t, ctx, `document.documentElement.dataset.theme === "`+other+`"`)
			axe(t, ctx)
			shoot(t, ctx, x.name+"-"+other)
		})
	}
}

// TestHostileNames: what jobs and ports are called changes nothing of how the page reads.
func TestHostileNames(t *testing.T) {
	s := newScene(t, "hybrid:racks=2,hosts=1")
	srv := served(t, s, s.actions())
	ctx := open(t, "light", 1400, 1000)
	must(t, chromedp.Do(ctx, chromedp.Navigate(srv.URL()), chromedp.WaitVisible(".ring")))
	got := eval[string](t, ctx, `import("/base.js").then(({html}) => html`+"`<b>${'job a\u202eb\u001b[2J, Größe'}</b>`"+
		`.props.children)`)
	if want := `job a\u{202e}b\u{1b}[2J, Größe`; got != want {
		t.Errorf("a name is shown as %q, want %q", got, want)
	}
}

// byKeys chooses a rack, fails its first link and heals it, without a mouse.
func byKeys(t *testing.T, ctx context.Context, s *scene) {
	t.Helper()
	must(t, chromedp.Do(ctx, chromedp.Focus(".keys"), chromedp.KeyEvent(kb.ArrowRight),
		chromedp.KeyEvent(kb.ArrowRight)))
	name := s.f.Topology.Node(s.f.ToRNode[1]).Name
	await(t, ctx, `document.getElementById("chosen").textContent === "Rack 1"`)
	got := eval[string](t, ctx, `document.querySelector(".keys").getAttribute("aria-valuetext")`)
	if !strings.HasPrefix(got, name) {
		t.Errorf("the ring says %q, want %s", got, name)
	}
	for i, word := range []string{"Fail", "Heal"} {
		press(t, ctx, ".inspector .acts", word)
		await(t, ctx, fmt.Sprintf(`document.querySelectorAll(".inspector .broken").length === %d`, 1-i))
	}
	must(t, chromedp.Do(ctx, chromedp.Focus("#time"), chromedp.KeyEvent(kb.ArrowLeft),
		chromedp.KeyEvent(kb.ArrowLeft)))
	await(t, ctx, `document.querySelector(".past") !== null`)
	await(t, ctx, `document.querySelectorAll(".inspector .acts button").length === 0`)
	must(t, chromedp.Do(ctx, chromedp.Focus("#time"), chromedp.KeyEvent(kb.End)))
	await(t, ctx, `document.querySelector(".past") === null`)
}

// press gives the first button there whose text begins so the focus, and presses Enter.
func press(t *testing.T, ctx context.Context, where, word string) {
	t.Helper()
	found := `[...document.querySelectorAll("` + where + ` button")].find(b => b.textContent.startsWith("` + word + `"))`
	await(t, ctx, found+` !== undefined`)
	eval[bool](t, ctx, found+`.focus() === undefined`)
	must(t, chromedp.Do(ctx, chromedp.KeyEvent(kb.Enter)))
}

// doings does by keyboard what else the page offers: a dry run, a failure of a switch, healing all, a capture, and the
// end of a job.
func doings(t *testing.T, ctx context.Context, s *scene) {
	t.Helper()
	tells := func(want string) {
		t.Helper()
		await(t, ctx, `document.querySelector(".told").textContent.includes("`+want+`")`)
	}
	press(t, ctx, ".inspector .choices", "Cancel")
	tells("job 11 is cancelled")
	must(t, chromedp.Do(ctx, chromedp.Focus(".keys"), chromedp.KeyEvent(kb.Home)))
	name := s.f.Topology.Node(s.f.ToRNode[0]).Name
	press(t, ctx, ".inspector .choices", "Try a failure")
	tells("if switch " + name + " failed now: nothing that runs now would notice")
	press(t, ctx, ".inspector .choices", "Fail switch")
	await(t, ctx, `document.querySelector(".verdict").textContent === "1 part failed"`)
	press(t, ctx, ".failed", "Heal all")
	await(t, ctx, `document.querySelector(".failed") === null`)
	press(t, ctx, ".inspector .acts", "Capture")
	tells("captured 7 B at " + name)
}

// await waits until an expression is true.
func await(t *testing.T, ctx context.Context, js string) {
	t.Helper()
	if !eval[bool](t, ctx, `new Promise(done => { const end = performance.now() + 10000,
		look = () => (`+js+`) ? done(true) : performance.now() > end ? done(false) : requestAnimationFrame(look);
		look() })`) {
		t.Fatalf("waited in vain for %s", js)
	}
}
