package api

import (
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
	"lightloom/pathmap"
)

// Link is what passes a link, as the leader's policies see it.
type Link struct {
	ID       pathmap.LinkID
	From, To string // names of nodes
	controller.LinkRate
}

// links returns what the leader knows of links: it is asked, unless this replica leads or has been
// asked by another.
func (s *service) links(ctx context.Context, leader string, asked bool) ([]*apiv1.LinkRate, error) {
	if leader == s.cfg.ID || asked {
		var out []*apiv1.LinkRate
		if s.cfg.Links != nil {
			for _, l := range s.cfg.Links() {
				out = append(out, &apiv1.LinkRate{Link: int32(l.ID), From: l.From, To: l.To,
					BitsPerSecond:  int64(l.Rate),
					DropsPerSecond: l.Drops, SpanNs: int64(l.Span), AtNs: int64(l.At)})
			}
		}
		return out, nil
	}
	resp, err := s.askLeader(ctx, leader, &apiv1.StatusRequest{Links: true})
	if err != nil {
		return nil, fmt.Errorf("read links: %w", err)
	}
	return resp.Links, nil
}

// Links returns the link rates that the leader knows, by id. If switches do not count, there are none.
func (c *Client) Links(ctx context.Context) (out []Link, err error) {
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.Status(ctx, connect.NewRequest(&apiv1.StatusRequest{Links: true}))
		if err != nil {
			return err
		}
		for _, m := range r.Msg.Links {
			out = append(out, Link{ID: pathmap.LinkID(m.Link), From: m.From, To: m.To,
				LinkRate: controller.LinkRate{
					Rate: pathmap.BitsPerSecond(m.BitsPerSecond), Drops: m.DropsPerSecond, Span: time.Duration(m.SpanNs),
					At: time.Duration(m.AtNs)}})
		}
		return nil
	})
	return out, err
}
