package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"lightloom/cmd/lightloom/internal/console"
	"lightloom/cmd/lightloom/internal/testbed"
	"lightloom/controller/api"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// ReserveOptions are the options of the commands bandwidth, reserve and release. One of Pairs, Request and Release is
// set.
type ReserveOptions struct {
	Pairs   []api.HostPair
	Request *api.BandwidthRequest // its Request is chosen here
	Release int64

	Output string // OutputTable or OutputJSON
	Stdout io.Writer
}

// reserveRequest and ReserveReply are the messages on the control socket.
type reserveRequest struct {
	Pairs   []api.HostPair        `json:"pairs,omitempty"`
	Request *api.BandwidthRequest `json:"request,omitempty"`
	Release int64                 `json:"release,omitempty"`
	List    bool                  `json:"list,omitempty"`
}

// ReserveReply is the answer: bandwidths of pairs, or a reservation.
type ReserveReply struct {
	Pairs       []api.Bandwidth           `json:"pairs,omitempty"`
	Reservation *api.BandwidthReservation `json:"reservation,omitempty"`
	Released    int64                     `json:"released,omitempty"`
	All         []ReservationStatus       `json:"all,omitempty"`
}

// serveReserve calls the controller in the caller's name.
func (s *keeper) serveReserve(ctx context.Context, r *reserveRequest) reply {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var out ReserveReply
	var err error
	switch {
	case r.Request != nil:
		var p api.BandwidthReservation
		p, err = s.Client.Reserve(ctx, *r.Request)
		out.Reservation = &p
	case r.Release != 0:
		err = s.Client.Release(ctx, r.Release)
	case r.List:
		var d *state.Data
		if d, err = testbed.StateOf(ctx, s.Client); err == nil {
			out.All = s.reservations(d)
		}
	default:
		out.Pairs, err = s.Client.Bandwidths(ctx, r.Pairs)
	}
	if err != nil {
		return reply{Error: err.Error(), Exit: api.CodeOf(err).ExitStatus()}
	}
	return reply{Reserve: &out}
}

// ReservationStatus is a bandwidth reservation that stands.
type ReservationStatus struct {
	ID    int64                 `json:"id"`
	Owner string                `json:"owner,omitempty"`
	Src   string                `json:"src"`
	Dst   string                `json:"dst"`
	Rate  pathmap.BitsPerSecond `json:"rate_bits_per_second"`
	DSCP  uint32                `json:"dscp"`
	Path  []string              `json:"path"`
	Left  float64               `json:"left_seconds,omitempty"` // 0: until it is released
}

// reservations lists the bandwidth reservations of a state, by id.
func (s *keeper) reservations(d *state.Data) []ReservationStatus {
	out := []ReservationStatus{}
	for _, p := range d.BandwidthReservations {
		r := ReservationStatus{ID: int64(p.ID), Owner: p.Owner, Src: s.hostName(p.Src), Dst: s.hostName(p.Dst), Rate: p.Rate,
			DSCP: uint32(southbound.TOS(0, p.Tag) >> 2), Path: s.Topo.Topology.NodeNames(p.Links)}
		if p.Until != southbound.Never {
			r.Left = (p.Until - s.Clock()).Seconds()
		}
		out = append(out, r)
	}
	return out
}

// ListReservations lists the bandwidth reservations of this user's running fabric.
func ListReservations(_ context.Context, output string, w io.Writer) error {
	r, err := ask(request{Reserve: &reserveRequest{List: true}})
	switch {
	case err != nil:
		return err
	case output == console.OutputJSON:
		return console.WriteJSON(w, append([]ReservationStatus{}, r.Reserve.All...))
	case len(r.Reserve.All) == 0:
		_, err := fmt.Fprintln(w, "no reservations")
		return err
	}
	return printReservations(w, r.Reserve.All)
}

func printReservations(w io.Writer, all []ReservationStatus) error {
	t := console.NewTable(w, "reservation", "from", "to", "rate", "DSCP", "ends in", "owner", "path")
	t.Right(1, 4, 5, 6)
	for _, r := range all {
		ends := "–"
		if r.Left > 0 {
			ends = (time.Duration(r.Left) * time.Second).String()
		}
		t.Row(r.ID, r.Src, r.Dst, rateText(r.Rate), r.DSCP, ends, r.Owner, strings.Join(r.Path, " "))
	}
	return t.Print()
}

// Reserve lists, reserves or releases bandwidth between hosts of this user's running fabric.
func Reserve(_ context.Context, opt ReserveOptions) error {
	q := &reserveRequest{Pairs: opt.Pairs, Request: opt.Request, Release: opt.Release}
	if q.Request != nil {
		w := *q.Request
		w.Request = api.NewRequestID()
		q.Request = &w
	}
	r, err := ask(request{Reserve: q})
	switch {
	case err != nil:
		return err
	case r.Reserve == nil:
		return errors.New("ask for bandwidth: the answer holds none")
	case opt.Output == console.OutputJSON:
		r.Reserve.Released = opt.Release
		return console.WriteJSON(opt.Stdout, r.Reserve)
	}
	return r.Reserve.print(opt)
}

func (r *ReserveReply) print(opt ReserveOptions) (err error) {
	w := opt.Stdout
	switch p := r.Reservation; {
	case p != nil:
		until := fmt.Sprintf("until lightloom release %d", p.ID)
		if opt.Request.Lifetime > 0 {
			until = fmt.Sprintf("for %v", opt.Request.Lifetime)
		}
		_, err = fmt.Fprintf(w, "reservation %d, %s\npath %s\n%s\n", p.ID, until, strings.Join(p.Path, " "), marking(p.DSCP))
	case opt.Release != 0:
		_, err = fmt.Fprintf(w, "reservation %d released\n", opt.Release)
	default:
		t := console.NewTable(w, "from", "to", "to be reserved", "one flow more gets", "paths")
		t.Right(3, 4, 5)
		for _, b := range r.Pairs {
			t.Row(b.Src, b.Dst, rateText(b.Unreserved), rateText(b.Fair), b.Paths)
		}
		err = t.Print()
	}
	return err
}

// marking says how programs mark their packets. ping takes the whole byte, of which DSCP is the upper six bits.
func marking(dscp uint32) string {
	if dscp == 0 {
		return "packets need no mark: they take this path by themselves"
	}
	return fmt.Sprintf("mark packets with DSCP %d: iperf3 --dscp %d, ping -Q %d", dscp, dscp, dscp<<2)
}

// rateText writes a rate in Mb/s, with as few digits as it needs.
func rateText(r pathmap.BitsPerSecond) string {
	return fmt.Sprintf("%.4g Mb/s", float64(r)/float64(pathmap.Mbps))
}
