package switches

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/hint"
	"lightloom/southbound/inventory"
	"lightloom/southbound/lldpd"
	"lightloom/southbound/wiring"
)

// frameFlags say how links are verified by frames.
type frameFlags struct {
	on     bool
	here   []string
	listen time.Duration
}

func (f *frameFlags) flags(c *cobra.Command) {
	c.Flags().BoolVar(&f.on, "frames", false, "also ask the ends which neighbours they hear through the circuits (LLDP)")
	c.Flags().StringArrayVar(&f.here, "here", nil,
		"with --frames: end that is an interface of this machine, such as 'tester 1/1=eth3', where frames are sent and "+
			"heard; can be repeated")
	c.Flags().DurationVar(&f.listen, "listen", 2500*time.Millisecond,
		"with --frames: how long ends listen; longer than the interval of their announcements")
}

func (f *frameFlags) check() error {
	switch {
	case len(f.here) > 0 && !f.on:
		return cli.Usage("add --frames", "wire verify: --here is of a verification by frames")
	case f.on && (f.listen < time.Second || f.listen > time.Hour):
		return cli.Usage("write --listen 2.5s",
			"wire verify: --listen %v is not within 1s to 1h: switches tell whole seconds", f.listen)
	}
	return nil
}

// stations are the ends that are interfaces of this machine, by device.
func (f *frameFlags) stations(w *wiring.Wiring) ([]lldpd.Station, error) {
	const mend = "write --here 'leaf0 Ethernet0=eth3': an end of a link, and an interface of this machine"
	ends := map[string]wiring.End{}
	for _, e := range w.Ends() {
		ends[e.String()] = e
	}
	var out []lldpd.Station
	for _, text := range f.here {
		at := strings.LastIndex(text, "=")
		if at < 0 {
			return nil, cli.Usage(mend, "wire verify: --here %q", text)
		}
		e, known := ends[text[:at]]
		if !known {
			return nil, cli.Usage(mend, "wire verify: --here %q: no link has the end %q", text, text[:at])
		}
		nic, err := net.InterfaceByName(text[at+1:])
		if err != nil {
			return nil, hint.Wrong(hint.Wrap(fmt.Errorf("wire verify: --here %q: %w", text, err), mend))
		}
		i := slices.IndexFunc(out, func(s lldpd.Station) bool { return s.Name == e.Device })
		if i < 0 {
			i = len(out)
			out = append(out, lldpd.Station{Name: e.Device})
		}
		out[i].Ports = append(out[i].Ports, lldpd.Port{Interface: nic.Index, Name: e.Port})
	}
	return out, nil
}

// hear lets the ends of links listen, and returns what has arrived meanwhile.
func (f *wireFlags) hear(ctx context.Context, w *wiring.Wiring) (wiring.Frames, error) {
	stations, err := f.frames.stations(w)
	if err != nil {
		return wiring.Frames{}, err
	}
	g, ctx := errgroup.WithContext(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var here *lldpd.Daemon
	if len(stations) > 0 {
		here, err = lldpd.Open(lldpd.Config{Stations: stations, Interval: min(f.frames.listen/4, lldpd.Interval)})
		if err != nil {
			return wiring.Frames{}, hint.Wrap(err, "sending frames needs root, or CAP_NET_RAW")
		}
		g.Go(func() error { return here.Run(ctx) })
	}
	var out wiring.Frames
	g.Go(func() error {
		defer cancel()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(f.frames.listen):
		}
		out = f.asked(ctx, w, stations)
		for s, st := range stations {
			for _, h := range here.Heard(s) {
				out.Heard = append(out.Heard, wiring.Heard{Device: st.Name, Port: st.Ports[h.Port].Name, Said: h.Said})
			}
		}
		return nil
	})
	err = g.Wait()
	return out, err
}

// askers bounds how many devices are asked at a time.
const askers = 16

// asked asks the devices at the ends of links, but for ends that are here.
func (f *wireFlags) asked(ctx context.Context, w *wiring.Wiring, here []lldpd.Station) wiring.Frames {
	out := wiring.Frames{Deaf: map[string]string{}}
	ports := map[string][]string{} // by device, that are not here
	for _, e := range w.Ends() {
		if !slices.ContainsFunc(here, func(s lldpd.Station) bool {
			return s.Name == e.Device && slices.ContainsFunc(s.Ports, func(p lldpd.Port) bool { return p.Name == e.Port })
		}) {
			ports[e.Device] = append(ports[e.Device], e.Port)
		}
	}
	var g errgroup.Group
	g.SetLimit(askers)
	var mu sync.Mutex
	for device, names := range ports {
		g.Go(func() error {
			all, err := f.neighbors(ctx, device)
			mu.Lock()
			defer mu.Unlock()
			for _, p := range names {
				if err != nil {
					out.Deaf[device+" "+p] = err.Error()
				}
			}
			out.Heard = append(out.Heard, all...)
			return nil
		})
	}
	_ = g.Wait() // errors are why an end is deaf
	slices.SortFunc(out.Heard, func(a, b wiring.Heard) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Port, b.Port),
			cmp.Compare(a.Said.Chassis, b.Said.Chassis), cmp.Compare(a.Said.Port, b.Said.Port))
	})
	return out
}

// neighbors asks a device of the inventory what it has heard while ends listened.
func (f *wireFlags) neighbors(ctx context.Context, device string) (out []wiring.Heard, err error) {
	if f.r.file == "" {
		return nil, errors.New("no inventory (--devices) names it")
	}
	all, err := inventory.Read(f.r.file, nil)
	if err != nil {
		return nil, err
	}
	d, err := all.Devices.Find(device)
	if err != nil {
		return nil, err
	}
	if inventory.IsURL(d.Address) {
		return nil, errors.New("it speaks no gNMI")
	}
	cfg, err := d.Config(os.Getenv)
	if err != nil {
		return nil, err
	}
	conn, err := gnmi.Connect(cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	heard, err := probe.NamedNeighbors(ctx, gpb.NewGNMIClient(conn))
	for _, h := range heard {
		fresh, why := h.Within(f.frames.listen)
		if why != nil {
			return nil, fmt.Errorf("%w: wait longer with --listen", why)
		}
		if fresh {
			out = append(out, wiring.Heard{Device: device, Port: h.Interface, Said: h.Said})
		}
	}
	return out, err
}

// verifyFrames adds to a report what frames say, and returns what is to be failed by.
func (f *wireFlags) verifyFrames(ctx context.Context, w *wiring.Wiring, r *wireReport) error {
	heard, err := f.hear(ctx, w)
	if err != nil {
		return err
	}
	c := w.VerifyFrames(heard)
	r.Frames = &c
	r.Findings = append(r.Findings, c.Findings...)
	if c.Arrived+len(c.Findings) == 0 && len(c.Untried) > 0 {
		return hint.Wrap(fmt.Errorf("verify wiring by frames: no end of testbed %s can send frames or be asked what arrives",
			w.Testbed), "name packet switches that speak LLDP in --devices, or ends that are interfaces of this machine "+
			"with --here")
	}
	return nil
}
