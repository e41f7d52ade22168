package api

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"connectrpc.com/connect"

	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
)

// ListReservations returns a page of the bandwidth reservations as this replica has them.
func (s *service) ListReservations(ctx context.Context,
	r *connect.Request[apiv1.ListReservationsRequest]) (*connect.Response[apiv1.ListReservationsResponse], error) {
	if s.cfg.BandwidthReserver == nil {
		return nil, encode(errNoBandwidthReserver)
	}
	from, most, err := reservationPage(r.Msg)
	if err != nil {
		return nil, encode(fmt.Errorf("list reservations: %w", err))
	}
	at, err := s.wait(ctx, r.Msg.Read, r.Header().Get(forwarded) != "")
	if err != nil {
		return nil, encode(err)
	}
	out := &apiv1.ListReservationsResponse{Read: at}
	if s.cfg.Now != nil {
		out.NowNs = int64(s.cfg.Now())
	}
	owner, err := s.reads(ctx)
	if err != nil {
		return nil, encode(fmt.Errorf("list reservations: %w", err))
	}
	page, next := s.cfg.BandwidthReserver.Reservations(owner, from, most)
	if next > 0 {
		out.NextPageToken = strconv.FormatInt(next, 10)
	}
	for _, p := range page {
		if p.UntilNs > 0 {
			p.Until = s.wall(time.Duration(p.UntilNs))
		}
	}
	out.Reservations = page
	return connect.NewResponse(out), nil
}

func reservationPage(m *apiv1.ListReservationsRequest) (from int64, most int, err error) {
	if most = or(int(m.PageSize), defaultPage); most < 1 || most > MaxPage {
		return 0, 0, &Error{Invalid, fmt.Errorf("a page of %d: take 1 to %d", most, MaxPage)}
	}
	if m.PageToken == "" {
		return 0, most, nil
	}
	if from, err = strconv.ParseInt(m.PageToken, 10, 64); err != nil || from < 0 {
		return 0, 0, &Error{Invalid, fmt.Errorf("page token %q is none: take the one of the page before", m.PageToken)}
	}
	return from, most, nil
}

// Reservations calls sink with the bandwidth reservations that the caller may read, by id, and the
// instant of the run at which a replica told it.
func (c *Client) Reservations(ctx context.Context, r Read,
	sink func(p *apiv1.Reservation, now time.Duration)) error {
	q := &apiv1.ListReservationsRequest{PageSize: MaxPage, Read: r.proto()}
	for {
		var page *apiv1.ListReservationsResponse
		err := c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
			resp, err := to.ListReservations(ctx, connect.NewRequest(q))
			if err == nil {
				page = resp.Msg
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, p := range page.Reservations {
			sink(p, time.Duration(page.NowNs))
		}
		if q.PageToken = page.NextPageToken; q.PageToken == "" {
			return nil
		}
	}
}
