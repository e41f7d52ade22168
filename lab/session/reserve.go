package session

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/lab/console"
	"lightloom/lab/northbound"
	"lightloom/pathmap"
	"lightloom/southbound/hint"
)

// ReserveOptions are the options of the commands bandwidth, reserve and release. One of Pairs, Request and Release is
// set.
type ReserveOptions struct {
	To      northbound.Flags
	Pairs   []api.HostPair
	Request *api.BandwidthRequest // its Request is chosen here
	Release int64

	Output string // OutputTable or OutputJSON
	Stdout io.Writer
}

// ReserveReply is the answer: bandwidths of pairs, or a reservation.
type ReserveReply struct {
	Pairs       []api.Bandwidth           `json:"pairs,omitempty"`
	Reservation *api.BandwidthReservation `json:"reservation,omitempty"`
	Released    int64                     `json:"released,omitempty"`
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

// ListReservations lists the bandwidth reservations of a controller.
func ListReservations(ctx context.Context, to northbound.Flags, output string, w io.Writer) error {
	client, err := Dial(to)
	if err != nil {
		return err
	}
	defer client.Close()
	all, err := readReservations(ctx, client)
	switch {
	case err != nil:
		return northbound.WithStatus(err)
	case output == console.OutputJSON:
		return console.WriteJSON(w, all)
	case len(all) == 0:
		_, err := fmt.Fprintln(w, "no reservations")
		return err
	}
	return printReservations(w, all)
}

// readReservations reads what the caller may know of: a tenant its own alone.
func readReservations(ctx context.Context, client *api.Client) ([]ReservationStatus, error) {
	out := []ReservationStatus{}
	err := client.Reservations(ctx, api.Read{}, func(p *apiv1.Reservation, now time.Duration) {
		r := ReservationStatus{ID: p.Id, Owner: p.Owner, Src: p.GetPair().GetSrc(), Dst: p.GetPair().GetDst(),
			Rate: pathmap.BitsPerSecond(p.Rate), DSCP: p.Dscp, Path: p.Path}
		if p.UntilNs > 0 {
			r.Left = (time.Duration(p.UntilNs) - now).Seconds()
		}
		out = append(out, r)
	})
	return out, err
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

// Reserve lists, reserves or releases bandwidth between hosts of a controller's fabric.
func Reserve(ctx context.Context, opt ReserveOptions) error {
	client, err := Dial(opt.To)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var out ReserveReply
	if opt.Request != nil || opt.Release != 0 {
		if err := needLeader(ctx, client, "reserve bandwidth", electsWithin); err != nil {
			return err
		}
	}
	switch {
	case opt.Request != nil:
		w := *opt.Request
		w.Request = api.NewRequestID()
		var p api.BandwidthReservation
		p, err = client.Reserve(ctx, w)
		out.Reservation = &p
	case opt.Release != 0:
		out.Released, err = opt.Release, client.Release(ctx, opt.Release)
		if api.CodeOf(err) == api.Invalid {
			err = hint.Wrap(err, "lightloom reserve list shows them")
		}
	default:
		out.Pairs, err = client.Bandwidths(ctx, opt.Pairs)
	}
	switch {
	case err != nil:
		return northbound.WithStatus(err)
	case opt.Output == console.OutputJSON:
		return console.WriteJSON(opt.Stdout, &out)
	}
	return out.print(opt)
}

func (r *ReserveReply) print(opt ReserveOptions) (err error) {
	w := opt.Stdout
	switch p := r.Reservation; {
	case p != nil:
		until := fmt.Sprintf("until lightloom release %d", p.ID)
		if opt.Request.Lifetime > 0 {
			until = fmt.Sprintf("for %v", opt.Request.Lifetime)
		}
		_, err = fmt.Fprintf(w, "reservation %d, %s\npath %s\n%s\n", p.ID, until, strings.Join(p.Path, " "),
			howToMark(p.DSCP))
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

// howToMark says how programs mark their packets. ping takes the whole byte, of which DSCP is the upper six bits.
func howToMark(dscp uint32) string {
	if dscp == 0 {
		return "packets need no mark: they take this path by themselves"
	}
	return fmt.Sprintf("mark packets with DSCP %d: iperf3 --dscp %d, ping -Q %d, or lightloom agent tag --dscp %d for "+
		"any program", dscp, dscp, dscp<<2, dscp)
}

// rateText writes a rate in Mb/s, with as few digits as it needs.
func rateText(r pathmap.BitsPerSecond) string {
	return fmt.Sprintf("%.4g Mb/s", float64(r)/float64(pathmap.Mbps))
}
