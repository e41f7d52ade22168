package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"lightloom/controller/page"
	"lightloom/emulator/capture"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/lab/console"
	"lightloom/lab/version"
	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/hint"
)

// The page of a fabric is served by the process inside, which knows everything. Browsers cannot reach it: the process
// outside listens at the loopback, and passes each connection on over the control socket, unread.

// pageRequest begins the page, asks for another address of it, or passes a browser's connection on.
type pageRequest struct {
	Listen string `json:"listen,omitempty"` // where the process outside listens; empty: the page has begun
	Relay  bool   `json:"relay,omitempty"`  // what follows on the connection is a browser's
}

// NoPage is the address that disables the page.
const NoPage = "off"

// pageListener is the part of the page in the process outside.
type pageListener struct {
	ln net.Listener // nil: there is no page
	wg sync.WaitGroup
}

func listenPage(address string) (*pageListener, error) {
	ln, err := ListenPage(address)
	return &pageListener{ln: ln}, err
}

// ListenPage listens at a loopback address for a page; empty is any free port, and NoPage gives nil.
func ListenPage(address string) (net.Listener, error) {
	if address == NoPage {
		return nil, nil
	}
	return ListenLoopback("page", "--page", address)
}

// ListenLoopback listens at a loopback address for what is served to browsers; empty is any free port.
func ListenLoopback(what, flag, address string) (net.Listener, error) {
	if address == "" {
		address = "127.0.0.1:0"
	}
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, hint.Wrong(hint.New(fmt.Sprintf("serve %s at %q: it is for browsers on this machine: its address is "+
			"a loopback's", what, address), "write "+flag+" 127.0.0.1:8080"))
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve %s: %w", what, err)
	}
	return ln, nil
}

// Close ends the page.
func (p *pageListener) Close() {
	if p.ln != nil {
		p.ln.Close()
	}
	p.wg.Wait()
}

// begin has the page served once the fabric is up, and prints its address.
func (p *pageListener) begin(ctx context.Context, stdout, stderr io.Writer) {
	if p.ln == nil {
		return
	}
	r, err := ask(request{Page: &pageRequest{Listen: p.ln.Addr().String()}})
	if err != nil {
		fmt.Fprintf(stderr, "note: the page is not served: %v\n", err)
		return
	}
	fmt.Fprintf(stdout, "page: %s\n", r.Page)
	p.wg.Go(func() { p.relay(ctx) })
}

// mostBrowsers bounds connections of browsers at once.
const mostBrowsers = 64

// relay passes connections on until the listener is closed.
func (p *pageListener) relay(ctx context.Context) {
	free := make(chan struct{}, mostBrowsers)
	for {
		free <- struct{}{}
		c, err := p.ln.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() {
			defer func() { <-free }()
			passOn(ctx, c)
		})
	}
}

// passOn joins a browser's connection with one to the process inside, until either ends.
func passOn(ctx context.Context, c net.Conn) {
	defer c.Close()
	in, err := dialControl()
	if err != nil {
		return // the fabric is going down
	}
	defer in.Close()
	if err := sendRequest(in, request{Page: &pageRequest{Relay: true}}); err != nil {
		return
	}
	defer context.AfterFunc(ctx, func() { c.Close(); in.Close() })()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(in, c)
		in.Close()
		c.Close()
	}()
	_, _ = io.Copy(c, in)
	in.Close()
	c.Close()
	<-done
}

// pageServer is the part of the page in the process inside.
type pageServer struct {
	ctx context.Context
	run func(func()) // a goroutine of the process's

	mu    sync.Mutex
	page  *page.Server // nil: it has not begun
	conns *conns
}

// serve begins the page where a listener's address is given, and returns an address for a browser.
func (p *pageServer) serve(s *keeper, listen string) reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.page == nil && listen == "" {
		return reply{Error: "show page: this fabric has none", Hint: "leave --page off away: lightloom up"}
	}
	if p.page == nil {
		one, err := page.New(page.Config{Source: s.source(), Actions: s.pageActions(), Address: listen})
		if err != nil {
			return refusal(err)
		}
		p.page, p.conns = one, newConns()
		p.run(func() { _ = one.Serve(p.ctx, p.conns) }) // the listener breaks with the process
	}
	return reply{Page: p.page.URL()}
}

// relay hands a browser's connection to the page, and returns when it has ended.
func (p *pageServer) relay(ctx context.Context, c net.Conn) {
	p.mu.Lock()
	to := p.conns
	p.mu.Unlock()
	if to != nil {
		to.hand(ctx, c)
	}
}

// conns is a listener of connections that come in otherwise.
type conns struct {
	come   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newConns() *conns { return &conns{come: make(chan net.Conn), closed: make(chan struct{})} }

// hand passes a connection on, and waits for its end.
func (l *conns) hand(ctx context.Context, c net.Conn) {
	o := &ended{Conn: c, done: make(chan struct{})}
	select {
	case l.come <- o:
	case <-l.closed:
		return
	}
	select {
	case <-o.done:
	case <-ctx.Done():
	}
}

// Accept implements net.Listener.
func (l *conns) Accept() (net.Conn, error) {
	select {
	case c := <-l.come:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *conns) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *conns) Addr() net.Addr { return &net.UnixAddr{Name: controlName(), Net: "unix"} }

// ended is a connection that says when it was closed.
type ended struct {
	net.Conn
	once sync.Once
	done chan struct{}
}

// Close implements net.Conn.
func (c *ended) Close() error {
	defer c.once.Do(func() { close(c.done) })
	return c.Conn.Close()
}

// ShowPage prints an address of the page of this user's running fabric, good once.
func ShowPage(output string, w io.Writer) error {
	r, err := ask(request{Page: &pageRequest{}})
	if err != nil {
		return err
	}
	if output == console.OutputJSON {
		return console.WriteJSON(w, PageAt{r.Page})
	}
	_, err = fmt.Fprintln(w, r.Page)
	return err
}

// PageAt is the output of the command page.
type PageAt struct {
	URL string `json:"url"` // good once
}

// source is what the page shows: what the controller tells, and what only this testbed knows.
func (s *keeper) source() *page.Controller {
	dataplane := "real packets, " + s.Packets.Net.Settings().Dataplane
	return &page.Controller{Client: s.Client, Of: s.Topo, Seed: s.Config.Seed, Replicas: s.Cluster.IDs,
		About: page.FabricOf(s.Topo, s.Config.Row.Policy,
			dataplane), More: s.addMeasured, Left: s.Packets.Agent.Remaining}
}

// addMeasured adds what ports count, what switches hold, and what has failed.
func (s *keeper) addMeasured(_ context.Context, l *page.Look) error {
	links, err := s.Counters.Links()
	if err != nil {
		return err
	}
	l.Rates = make([]int64, len(links))
	for i, x := range links {
		if l.Rates[i] = -1; x.Span > 0 && !x.Stale() {
			l.Rates[i] = int64(x.Rate) / 1000
		}
	}
	for i := range l.Replicas {
		l.Replicas[i].Restarts = s.Cluster.Restarts(l.Replicas[i].ID)
	}
	for _, f := range s.Faults.Failed() {
		l.Failed = append(l.Failed, page.Failed{Kind: f.Kind.String(), Name: f.Name})
	}
	at := 0
	for i, node := range s.Topo.Topology.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		var seen southbound.Seen
		s.Packets.Switches[southbound.DeviceID(i)].Door.Do(func(now time.Duration, d *device.Device) {
			seen = d.Seen(now)
		})
		x := &l.Switches[at]
		x.Seen = &page.Held{Rules: len(seen.Rules), Circuits: len(seen.Connections)}
		x.Dark, x.Down = s.unlit(southbound.DeviceID(i), seen.Down)
		at++
	}
	return nil
}

// pageActions are what the page can do here.
func (s *keeper) pageActions() page.Actions {
	src := s.source()
	return page.Actions{Break: s.breakFor, HealAll: s.healFor, Cancel: src.Cancel,
		Try: s.tryFor(src), Why: src.Why,
		Capture: s.captureFor}
}

func (s *keeper) breakFor(ctx context.Context, f page.Failed, heal bool) (string, error) {
	kind, err := fault.KindNamed(f.Kind)
	if err != nil {
		return "", err
	}
	return struckLine(s.serveBreak(ctx, fault.Event{Fault: fault.Fault{Kind: kind, Name: f.Name}, Heal: heal}))
}

func (s *keeper) healFor(ctx context.Context) (string, error) { return struckLine(s.serveHealAll(ctx)) }

func struckLine(r reply) (string, error) {
	if r.Error != "" {
		return "", wrongAnswer(r)
	}
	var lines []string
	for _, x := range r.Struck {
		lines = append(lines, fmt.Sprintf("%v %s", x.Fault, x.word()))
	}
	if len(lines) == 0 {
		return "nothing has failed", nil
	}
	return strings.Join(lines, ", "), nil
}

// tryFor looks at what is so now, and says what a failure would do.
func (s *keeper) tryFor(src *page.Controller) func(context.Context, page.Failed) ([]string, error) {
	return func(ctx context.Context, f page.Failed) ([]string, error) {
		if _, err := src.Look(ctx); err != nil {
			return nil, err
		}
		return src.Try(ctx, f)
	}
}

// mostCaptured bounds a capture for a page, which a browser keeps in memory.
const mostCaptured = 200_000

func (s *keeper) captureFor(ctx context.Context, port string, most time.Duration, w io.Writer) error {
	node, number, err := portNamed(s.Topo.Topology, port)
	if err != nil {
		return err
	}
	r := captureRequest{Port: port, SnapLen: 128, Duration: most}
	src, err := s.openCapture(node, number, r)
	if err != nil {
		return err
	}
	defer src.Close()
	book := capture.NewNotebook()
	defer s.annotate(book, node, number)()
	_, err = capture.Run(ctx, src, book, w, capture.Options{Port: port, SnapLen: r.SnapLen,
		Count:    mostCaptured,
		Duration: most, Program: "lightloom " + version.This(), About: s.Config.Row.Spec.String()})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
