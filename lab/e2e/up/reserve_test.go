package up

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"lightloom/controller/api"
	"lightloom/lab/console"
	"lightloom/lab/labtest"
	"lightloom/lab/session"
	"lightloom/pathmap"
)

// TestReserveOnWhatIsUp asks a fabric of packets and three replicas for bandwidth as an outside
// scheduler would: what is reserved is gone from what may be, a request too large is refused with what
// is left, and what is released is back.
func TestReserveOnWhatIsUp(t *testing.T) {
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	startUp(t)
	ask := func(opt session.ReserveOptions) (r session.ReserveReply, err error) {
		var b bytes.Buffer
		opt.Output, opt.Stdout = console.OutputJSON, &b
		if err = session.Reserve(context.Background(), opt); err == nil {
			err = json.Unmarshal(b.Bytes(), &r)
		}
		return r, err
	}
	pair := api.HostPair{Src: "h0-0", Dst: "h1-0"}
	unreserved := func() pathmap.BitsPerSecond {
		t.Helper()
		r, err := ask(session.ReserveOptions{Pairs: []api.HostPair{pair}})
		if err != nil || len(r.Pairs) != 1 || r.Pairs[0].Paths < 1 || r.Pairs[0].Fair <= 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		return r.Pairs[0].Unreserved
	}
	whole := unreserved()
	var last int64
	granted := 0
	for ; granted < 20; granted++ { // one path after the other, until none has so much left
		r, err := ask(session.ReserveOptions{Request: &api.BandwidthRequest{Owner: "yarn",
			Pair: pair, Rate: whole,
			Lifetime: time.Hour}})
		if err != nil {
			var exit *console.ExitError
			if !errors.As(err, &exit) || exit.Code != api.NoRoom.ExitStatus() ||
				!strings.Contains(err.Error(), "at most") {
				t.Fatal(err)
			}
			break
		}
		if p := r.Reservation; p.ID <= last || p.Path[0] != pair.Src ||
			p.Path[len(p.Path)-1] != pair.Dst || p.Until <= 0 {
			t.Fatalf("%+v", p)
		}
		last = r.Reservation.ID
	}
	if granted == 0 || granted == 20 || unreserved() >= whole {
		t.Errorf("%d granted of %v each, %v is left", granted, whole, unreserved())
	}
	var b bytes.Buffer
	if err := session.Reserve(context.Background(),
		session.ReserveOptions{Release: last, Stdout: &b}); err != nil ||
		!strings.HasSuffix(b.String(), "released\n") {
		t.Errorf("%q, %v", b.String(), err)
	}
	if got := unreserved(); got != whole {
		t.Errorf("%v may be reserved after a release, want %v", got, whole)
	}
	submitAndCancel(t)
	for name, opt := range map[string]session.ReserveOptions{"no such host": {Pairs: []api.HostPair{{Src: "h0-0",
		Dst: "h9-9"}}},
		"one host": {Request: &api.BandwidthRequest{Pair: api.HostPair{Src: "h0-0",
			Dst: "h0-0"}, Rate: 1}},
		"no such reservation": {Release: 99}} {
		if _, err := ask(opt); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
