package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"lightloom/cmd/lightloom/internal/console"
	"lightloom/controller/api"
	"lightloom/pathmap"
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
}

// ReserveReply is the answer: bandwidths of pairs, or a reservation.
type ReserveReply struct {
	Pairs       []api.Bandwidth           `json:"pairs,omitempty"`
	Reservation *api.BandwidthReservation `json:"reservation,omitempty"`
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
	default:
		out.Pairs, err = s.Client.Bandwidths(ctx, r.Pairs)
	}
	if err != nil {
		return reply{Error: err.Error(), Exit: api.CodeOf(err).ExitStatus()}
	}
	return reply{Reserve: &out}
}

// Reserve lists, reserves or releases bandwidth between hosts of this user's running fabric.
func Reserve(_ context.Context, opt ReserveOptions) error {
	c, err := dialControl()
	if err != nil {
		return err
	}
	defer c.Close()
	ask := &reserveRequest{Pairs: opt.Pairs, Request: opt.Request, Release: opt.Release}
	if ask.Request != nil {
		w := *ask.Request
		w.Request = api.NewRequestID()
		ask.Request = &w
	}
	if err := sendRequest(c, request{Reserve: ask}); err != nil {
		return err
	}
	var r reply
	if err := json.NewDecoder(c).Decode(&r); err != nil {
		return fmt.Errorf("ask for bandwidth: the fabric went down: %w", err)
	}
	switch {
	case r.Error != "":
		return &console.ExitError{Code: r.Exit, Err: errors.New(r.Error)}
	case r.Reserve == nil:
		return errors.New("ask for bandwidth: the answer holds none")
	case opt.Output == console.OutputJSON:
		e := json.NewEncoder(opt.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(r.Reserve)
	}
	return r.Reserve.print(opt.Stdout, opt.Release)
}

func (r *ReserveReply) print(w io.Writer, released int64) (err error) {
	switch {
	case r.Reservation != nil:
		until := "until it is released"
		if r.Reservation.Until > 0 {
			until = fmt.Sprintf("until %v of the run", r.Reservation.Until.Round(time.Millisecond))
		}
		_, err = fmt.Fprintf(w, "reservation %d, %s\npath %s\nmark packets with DSCP %d\n", r.Reservation.ID, until,
			strings.Join(r.Reservation.Path, " "), r.Reservation.DSCP)
	case released != 0:
		_, err = fmt.Fprintf(w, "reservation %d released\n", released)
	default:
		t := table.NewWriter()
		t.SetStyle(table.StyleRounded)
		t.AppendHeader(table.Row{"from", "to", "to be reserved", "one flow more gets", "paths"})
		for _, b := range r.Pairs {
			t.AppendRow(table.Row{b.Src, b.Dst, rateText(b.Unreserved), rateText(b.Fair), b.Paths})
		}
		_, err = fmt.Fprintln(w, t.Render())
	}
	return err
}

// rateText writes a rate in Mb/s, with as few digits as it needs.
func rateText(r pathmap.BitsPerSecond) string {
	return fmt.Sprintf("%.4g Mb/s", float64(r)/float64(pathmap.Mbps))
}
