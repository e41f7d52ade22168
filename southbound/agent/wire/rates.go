package wire

import (
	"cmp"
	"fmt"
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
)

func spreadMessages(all []southbound.Spread) []*agentpb.Spread {
	var out []*agentpb.Spread
	for _, s := range all {
		out = append(out, &agentpb.Spread{Coflow: int32(s.Coflow), From: hostRateMessages(s.From),
			To: hostRateMessages(s.To)})
	}
	return out
}

func hostRateMessages(all []southbound.HostRate) []*agentpb.HostRate {
	var out []*agentpb.HostRate
	for _, r := range all {
		out = append(out, &agentpb.HostRate{Host: int32(r.Host), BitsPerSecond: int64(r.Rate)})
	}
	return out
}

func extraMessages(all []southbound.Extra) []*agentpb.Extra {
	var out []*agentpb.Extra
	for _, e := range all {
		out = append(out, &agentpb.Extra{Coflow: int32(e.Coflow), Row: e.Row, BitsPerSecond: int64(e.Rate)})
	}
	return out
}

func spreads(all []*agentpb.Spread) []southbound.Spread {
	var out []southbound.Spread
	for _, s := range all {
		out = append(out, southbound.Spread{Coflow: southbound.CoflowID(s.GetCoflow()),
			From: hostRates(s.GetFrom()),
			To:   hostRates(s.GetTo())})
	}
	return out
}

func hostRates(all []*agentpb.HostRate) []southbound.HostRate {
	var out []southbound.HostRate
	for _, r := range all {
		out = append(out, southbound.HostRate{Host: southbound.HostID(r.GetHost()),
			Rate: pathmap.BitsPerSecond(r.GetBitsPerSecond())})
	}
	return out
}

func extras(all []*agentpb.Extra) []southbound.Extra {
	var out []southbound.Extra
	for _, e := range all {
		out = append(out, southbound.Extra{HostFlowKey: southbound.HostFlowKey{Coflow: southbound.CoflowID(e.GetCoflow()),
			Row: e.GetRow()},
			Rate: pathmap.BitsPerSecond(e.GetBitsPerSecond())})
	}
	return out
}

// CheckRates returns an error if rates are invalid.
func CheckRates(r *southbound.Rates) error {
	spreads := r.Spreads()
	switch by := len(r.Pace) + len(spreads) + len(r.Extra); {
	case r.Fair && by+len(r.Pairs) > 0:
		return refuse("fair, and %d paces, spreads and extras and %d pairs beside it", by, len(r.Pairs))
	case len(r.Priority) > MaxPaces:
		return refuse("%d priorities, at most %d are taken", len(r.Priority), MaxPaces)
	case len(r.Pace) > MaxPaces:
		return refuse("%d paces, at most %d are taken", len(r.Pace), MaxPaces)
	case len(r.Extra) > MaxExtras:
		return refuse("%d extras, at most %d are taken", len(r.Extra), MaxExtras)
	}
	if err := r.CheckPriorities(); err != nil {
		return refuse("%w", err)
	}
	named := make(map[southbound.CoflowID]bool, len(r.Pace)+len(spreads))
	for _, p := range r.Pace {
		if p.Until < 0 {
			return refuse("coflow %d ends at %v, before the run", p.Coflow, p.Until)
		}
		named[p.Coflow] = true
	}
	for _, p := range r.Pairs {
		if p.Rate < 0 || !ValidTag(p.Tag) {
			return refuse("pair %d→%d: tag %d at %v", p.Src, p.Dst, p.Tag, p.Rate)
		}
	}
	if err := checkSpreads(spreads, named); err != nil {
		return err
	}
	return checkExtras(r.Extra, named)
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("set rates: %w: %w", fmt.Errorf(format, args...), southbound.ErrRefused)
}

// checkSpreads adds the coflows of spreads to those that are named.
func checkSpreads(all []southbound.Spread, named map[southbound.CoflowID]bool) error {
	rates := len(all)
	for _, s := range all {
		if named[s.Coflow] {
			return refuse("coflow %d has a spread and a pace, or two spreads", s.Coflow)
		}
		named[s.Coflow] = true
		rates += len(s.From) + len(s.To)
		for _, side := range [2][]southbound.HostRate{s.From, s.To} {
			for i, h := range side {
				if h.Host < 0 || h.Rate < 0 || i > 0 && side[i-1].Host >= h.Host {
					return refuse("spread of coflow %d: host %d at %v: hosts are sorted, each once, with rates of zero or more",
						s.Coflow, h.Host, h.Rate)
				}
			}
		}
	}
	if rates > MaxHostRates {
		return refuse("spreads with %d rates of hosts, at most %d are taken", rates, MaxHostRates)
	}
	return nil
}

func checkExtras(all []southbound.Extra, named map[southbound.CoflowID]bool) error {
	sorted := slices.IsSortedFunc(all, func(a, b southbound.Extra) int {
		return cmp.Or(cmp.Compare(a.Coflow, b.Coflow), cmp.Compare(a.Row, b.Row))
	})
	for i, e := range all {
		switch {
		case e.Rate <= 0 || e.Row < 0:
			return refuse("extra of row %d of coflow %d is %v", e.Row, e.Coflow, e.Rate)
		case !named[e.Coflow]:
			return refuse("extra of coflow %d, which has neither pace nor spread", e.Coflow)
		case !sorted || i > 0 && all[i-1].HostFlowKey == e.HostFlowKey:
			return refuse("extras are sorted by coflow and row, each once")
		}
	}
	return nil
}
