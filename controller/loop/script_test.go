package loop_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/multihop"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// plan reads clauses: place=JOB:HOST,… route=COFLOW:TAG,… withdraw=COFLOW preempt=INPUT
// reserve=IN>OUT@FROM-TO:COFLOW (with +hold at its end) wake=D fair multihop=SRC>DST[@SPINE]:IN>OUT,… multihop=none
func (s *scenario) plan(clauses []string) error {
	p := &controller.Plan{Wake: southbound.Never}
	for _, c := range clauses {
		key, value, _ := strings.Cut(c, "=")
		var n int
		var err error
		switch key {
		case "place", "route":
			err = numbers(p, key, value)
		case "withdraw":
			_, err = fmt.Sscan(value, &n)
			p.Withdraw = append(p.Withdraw, southbound.CoflowID(n))
		case "preempt":
			_, err = fmt.Sscan(value, &n)
			p.Preempt = append(p.Preempt, southbound.Port(n))
		case "reserve":
			err = reserve(p, value)
		case "multihop":
			err = s.multihop(p, value)
		case "wake":
			p.Wake, err = time.ParseDuration(value)
		case "fair":
			p.Share = &southbound.Rates{Fair: true}
		default:
			err = errors.New("no such clause")
		}
		if err != nil {
			return fmt.Errorf("clause %q: %w", c, err)
		}
	}
	s.policy.plans = append(s.policy.plans, p)
	return nil
}

func (s *scenario) multihop(p *controller.Plan, value string) error {
	if p.Multihop == nil {
		p.Multihop = multihop.Paths{}
	}
	if value == "none" {
		return nil
	}
	ends, circuits, _ := strings.Cut(value, ":")
	ends, spine, over := strings.Cut(ends, "@")
	x := multihop.Path{Spine: pathmap.None}
	if over {
		x.Spine, _ = s.fabric.Topology.Named(spine)
	}
	_, err := fmt.Sscanf(ends, "%d>%d", &x.Src, &x.Dst)
	for _, text := range strings.Split(circuits, ",") {
		var c multihop.Circuit
		_, bad := fmt.Sscanf(text, "%d>%d", &c.In, &c.Out)
		x.Circuits, err = append(x.Circuits, c), errors.Join(err, bad)
	}
	p.Multihop = append(p.Multihop, x)
	return err
}

func numbers(p *controller.Plan, key, value string) error {
	of, list, _ := strings.Cut(value, ":")
	id, err := strconv.Atoi(of)
	if err != nil {
		return err
	}
	var all []int
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		all = append(all, n)
	}
	if key == "route" {
		r := controller.Routing{Coflow: southbound.CoflowID(id)}
		for _, n := range all {
			r.Tags = append(r.Tags, southbound.Tag(n))
		}
		p.Route = append(p.Route, r)
		return nil
	}
	pl := controller.Placement{Job: controller.JobID(id)}
	for _, n := range all {
		pl.Hosts = append(pl.Hosts, southbound.HostID(n))
	}
	p.Place = append(p.Place, pl)
	return nil
}

func reserve(p *controller.Plan, value string) error {
	r := controller.CircuitReservation{}
	value, hold := strings.CutSuffix(value, "+hold")
	if hold {
		r.Fallback = controller.Hold
	}
	pair, rest, _ := strings.Cut(value, "@")
	span, of, _ := strings.Cut(rest, ":")
	from, to, _ := strings.Cut(span, "-")
	_, err1 := fmt.Sscanf(pair, "%d>%d", &r.In, &r.Out)
	_, err2 := fmt.Sscan(of, &r.Coflow)
	var err3, err4 error
	r.NotBefore, err3 = time.ParseDuration(from)
	r.NotAfter, err4 = time.ParseDuration(to)
	p.Reserve = append(p.Reserve, r)
	return errors.Join(err1, err2, err3, err4)
}
