package server

import (
	"context"
	"net"
	"strings"
	"time"

	"lightloom/controller/leader"
	"lightloom/southbound/agent"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

// fleet dials agents on machines of their own.
func (p *replicaProcess) fleet(ctx context.Context, term, round uint64) (leader.Hosts, func() error, error) {
	cfg := agent.FleetConfig{Clock: p.clock.now,
		Election: func() (uint64, uint64) { return p.config.ElectionHigh(term), p.config.ElectionLow(round) },
		OnError:  func(err error) { p.log.Warn("agent", "error", err) }}
	if p.export != nil {
		cfg.OnForeign = p.export.meter.Foreign
	}
	change := p.fabricChange()
	sites := p.founded().Sites(&change)
	hosts := inventory.NetworkOf(p.fabric(), sites)
	for _, s := range sites {
		one := agent.Config{Addr: s.Addr, Network: hosts, TLS: p.keys.Client(pki.NameOf(s.Name), pki.Agent)}
		if path, ok := strings.CutPrefix(s.Addr, "unix:"); ok {
			one.Dialer = func(ctx context.Context, _ string) (net.Conn, error) {
				return (&net.Dialer{Timeout: dialAgentWithin}).DialContext(ctx, "unix", path)
			}
		}
		cfg.Members = append(cfg.Members, agent.Member{Config: one, Hosts: s.Hosts})
	}
	f, err := agent.DialFleet(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	return metered{f}, f.Close, nil
}

const dialAgentWithin = 3 * time.Second

// hosts dials the hosts' agent, where they have one.
func (p *replicaProcess) hosts(ctx context.Context, term, round uint64) (leader.Hosts, func() error, error) {
	if len(p.config.Agents) > 0 {
		return p.fleet(ctx, term, round)
	}
	if p.config.Agent == "" {
		return noAgent{}, func() error { return nil }, nil
	}
	c, err := agent.Dial(ctx, agent.Config{Addr: p.config.Agent,
		TLS:      p.keys.Client(inventory.AgentName, pki.Agent),
		Election: func() (uint64, uint64) { return p.config.ElectionHigh(term), p.config.ElectionLow(round) },
		OnError:  func(err error) { p.log.Warn("agent", "error", err) }})
	if err != nil {
		return nil, nil, err
	}
	return metered{c}, c.Close, nil
}
