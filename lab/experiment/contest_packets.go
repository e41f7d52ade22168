package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lightloom/lab/replay"
	"lightloom/lab/scenario"
)

// The experiment joint-packets runs one ground of joint-wide on real packets, and beside each run its
// twin at flow level.

// contestScale divides the rates of the ground, and contestSlower multiplies its times: a host sends
// 3.3 Mb/s, and has a fiftieth of the bytes. Two cores carry 96 such hosts. At 6.7 Mb/s they were used
// to 94 % while most jobs waited: a tenth of the circuits was in use 163 ms after it was asked for,
// where 40 were planned, and joint's mean CCT on seed 2 was 72 % above the simulator's in place of 21.
// At 20 Mb/s no core was ever idle.
const (
	contestScale  = 300
	contestSlower = 6
)

// The ground, and who meets on it: joint, and packed places with a circuit for every pair of racks, by
// names that a controller's process can be given.
const (
	contestGround = "busier"
	contestRival  = "packed+sunflow-every+anneal"
	contestJobs   = 60
)

// bothSides are the figures of one run by fabric: on packets, and on the simulator.
type bothSides map[string]Figures

func runJointPackets(ctx context.Context, b *Bench) (*Result, error) {
	n := contestJobs
	if b.Quick {
		n = 6
	}
	all := wideGrounds(n)
	g := &all[slices.IndexFunc(all, func(g ground) bool { return g.name == contestGround })]
	who := []string{contestRival, "joint"}
	got, err := Grid(ctx, b, who, func(name string) string { return name },
		func(ctx context.Context, name string, seed uint64) (bothSides, error) {
			jobs, err := g.jobs(b, seed)
			if err != nil {
				return nil, err
			}
			out := bothSides{}
			for _, on := range []string{OnFlowsim, OnNetns} {
				c := &replay.Case{Options: scenario.Options{
					Fabric: slowed(g), On: on, Policies: []string{name}, Given: jobs, Seed: seed,
					Scale: contestScale, Speedup: 1. / contestSlower,
				}}
				if out[on], err = whole(ctx, c); err != nil {
					return nil, err
				}
			}
			return out, nil
		})
	if err != nil {
		return nil, err
	}
	out := b.Result(fmt.Sprintf("the ground %s of joint-wide, %s, with a %dth of its rates, a fiftieth of its bytes and "+
		"all times %d times as long, %d jobs a run, and the simulator likewise", g.name, g.fabric, contestScale,
		contestSlower, n))
	out.Notes = []string{"the rival has a circuit for every pair; frozen.csv's has none for what packets send within a " +
		"reconfiguration delay, and at flow level on seeds 1 to 10 a mean CCT of 12.2 s in place of 11.8"}
	for _, on := range []string{OnNetns, OnFlowsim} {
		sideRows(on, who, got, out)
	}
	return out, nil
}

// slowed returns the fabric of a ground with longer dark times.
func slowed(g *ground) string {
	dark, err := time.ParseDuration(g.dark)
	if err != nil {
		panic("experiment: ground " + g.name + ": " + err.Error())
	}
	return strings.Replace(g.fabric, "dark="+g.dark, "dark="+(contestSlower*dark).String(), 1)
}

// whole runs a case to the end of all its jobs.
func whole(ctx context.Context, c *replay.Case) (Figures, error) {
	ran, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	if len(ran.Jobs) < len(c.Given) {
		return nil, errors.New("not all jobs ended")
	}
	return readRun(ran), nil
}

// sideRows are what the policies took on one fabric, and joint, the last of them, against each other one.
func sideRows(on string, who []string, got [][]bothSides, out *Result) {
	side := map[string]string{OnNetns: "on packets", OnFlowsim: "at flow level"}[on]
	runs := make([]Runs, len(who))
	for k := range who {
		for _, s := range got[k] {
			runs[k] = append(runs[k], s[on])
		}
	}
	last := len(who) - 1
	for k, name := range who {
		for _, m := range metrics()[1:] {
			out.At(side, name, "").Row(m, "s", 0, runs[k].Of(m))
			if k < last {
				out.At(side, "joint against "+name, "").Row(m, "%", 0, saved(runs[last], runs[k], m))
			}
		}
		out.circuitShare(name+" "+side, runs[k])
	}
}
