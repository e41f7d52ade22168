package standalone

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"lightloom/southbound"
)

// cables watches what is plugged in: it calls carrier first with every port that is dark, then at each
// change, until ctx ends (nil). It subscribes in the network namespace of its thread; all threads of
// this process are in the same one.
func (p *ports) cables(ctx context.Context, carrier func(port southbound.Port, up bool)) error {
	sub, err := nl.Subscribe(unix.NETLINK_ROUTE, unix.RTNLGRP_LINK)
	if err != nil {
		return fmt.Errorf("watch cables: %w", err)
	}
	defer sub.Close()
	defer context.AfterFunc(ctx, sub.Close)()
	up := make([]bool, len(p.index))
	for i := range up {
		up[i] = true // what a new device takes for granted
	}
	for {
		// Whatever has changed is read anew: a burst of notices, or one that did not fit, costs one look.
		if err := p.poll(up, carrier); err != nil {
			return err
		}
		if _, _, err := sub.Receive(); ctx.Err() != nil {
			return nil
		} else if err != nil && !errors.Is(err, unix.ENOBUFS) {
			return fmt.Errorf("watch cables: %w", err)
		}
	}
}

// pollTries bounds how often a list of interfaces that changes while it is read is read again.
const pollTries = 1000

// sampleQueues reads the ports and reports what differs from up.
func (p *ports) poll(up []bool, carrier func(southbound.Port, bool)) error {
	links, err := p.nl.LinkList()
	for range pollTries { // interfaces come and go while other switches start in this namespace
		if !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
		links, err = p.nl.LinkList()
	}
	if err != nil {
		return fmt.Errorf("watch cables: %w", err)
	}
	for i, index := range p.index {
		at := slices.IndexFunc(links, func(l netlink.Link) bool { return l.Attrs().Index == index })
		now := at >= 0 && links[at].Attrs().RawFlags&unix.IFF_RUNNING != 0 &&
			links[at].Attrs().RawFlags&unix.IFF_UP != 0
		if now != up[i] {
			up[i] = now
			carrier(southbound.Port(i), now)
		}
	}
	return nil
}
