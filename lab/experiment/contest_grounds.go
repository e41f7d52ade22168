package experiment

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload"
)

// contested are the grounds of joint-wide: four on which joint was developed, the cells of the grid of
// grounds whose headroom was 30 % and more on seed 1 and those of the Facebook trace that move in 10
// ms, workflows, and, for held-out seeds alone, some on which nothing was run before: one that is
// drawn, and SWIM's other public traces.
func contested(n int, seed uint64) []ground {
	all := wideGrounds(cmp.Or(n, 60))
	chosen := map[string][]string{ // by dark time
		"10ms":  {"wide", "wide, alike", "FB2010, free racks"},
		"100ms": {"wide", "wide, alike", "few reduces"},
		"500ms": {"wide", "wide, alike", "few reduces", "SWIM, 20 % heavy", "SWIM, 60 % heavy"},
	}
	for _, g := range grounds(cmp.Or(n, 40)) {
		if slices.Contains(chosen[g.dark], g.source.name) ||
			g.name == "SWIM, 60 % heavy, dark 100ms, offered 50 %" {
			all = append(all, g)
		}
	}
	all = append(all, ground{"workflows", groundFabric("10ms"), "10ms", 0,
		source{"workflows", true, workflows}})
	if seed >= heldOut {
		all = append(all, unseen(cmp.Or(n, 40)), unseenTrace(swimTraces[1], 0.2, "500ms", cmp.Or(n, 40)),
			unseenTrace(swimTraces[2], 0.6, "100ms", cmp.Or(n, 40)))
	}
	return all
}

// wideGrounds are 12 racks that jobs of wide shuffles do not fit into.
func wideGrounds(n int) []ground {
	const fabric = "hybrid:racks=12,hosts=8,slots=2,spines=2,nic=1Gbps,eps=500Mbps,ocs=10Gbps,dark="
	const thin = "hybrid:racks=12,hosts=8,slots=2,spines=2,nic=1Gbps,eps=250Mbps,ocs=2Gbps,dark=10ms"
	every := func(gap time.Duration) source {
		return source{"wide shuffles", false, func(_ *Bench, seed uint64) ([]controller.Job, error) {
			return workload.Shuffles(n, gap, seed), nil
		}}
	}
	return []ground{
		{"wide", fabric + "10ms", "10ms", 0, every(600 * time.Millisecond)},
		{"busier", fabric + "10ms", "10ms", 0, every(300 * time.Millisecond)},
		{"dark 200 ms", fabric + "200ms", "200ms", 0, every(600 * time.Millisecond)},
		{"circuits of 2 Gb/s", thin, "10ms", 0, every(600 * time.Millisecond)},
	}
}

// Contest is a ground of joint-wide for other experiments, with joint and the composition frozen as its
// rival.
type Contest struct {
	Fabric       string
	Jobs         func(b *Bench, seed uint64) ([]controller.Job, error)
	Rival, Joint func() controller.Policy
}

// Contested returns the ground of that name, which there is, with n jobs a run.
func Contested(name string, n int) Contest {
	all, who := contested(n, 1), contestants()
	g := &all[slices.IndexFunc(all, func(g ground) bool { return g.name == name })]
	rival := slices.IndexFunc(who, func(c contestant) bool { return c.name == frozenRival(name) })
	return Contest{g.fabric, g.jobs, who[rival].with, who[len(who)-1].with}
}

func contestAssumptions() []string {
	return []string{"sunflow-te0 lights every pair; packets share links max-min; apart is joint's search for the packet " +
		"network alone, with joint's circuits; all have joint's routes",
		"the rival of a ground is the composition with the least mean CCT; a job is slower if it takes over 5 % longer",
		"wide, busier, dark 200 ms, circuits of 2 Gb/s: 12 racks of 8 hosts with 2 slots; 60 jobs of " +
			"4–16 maps and 4–16 reduces, one every 0.6 s, busier 0.3 s; packets 2 × 500 Mb/s a rack, circuits 10 Gb/s",
		"dark N, offered P %: as the experiment grounds has them",
		"workflows: one of six in WfFormat a run, three of them for held-out seeds only; tasks compute 60 times as fast"}
}

// workflows is one of the workflows in the folder of traces, by seed.
func workflows(b *Bench, seed uint64) ([]controller.Job, error) {
	names, err := filepath.Glob(filepath.Join(b.Data, "dag", "*.json.gz"))
	if err != nil || len(names) < 2 {
		return nil, fmt.Errorf("find workflows: %d files dag/*.json.gz in %q: name a folder with two at least (%w)",
			len(names), b.Data, err)
	}
	slices.Sort(names)
	half := halved(names, seed)
	name := half[seed%uint64(len(half))]
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("find workflows: %w", err)
	}
	jobs, err := workload.ReadWorkflow(bytes.NewReader(text), filepath.Base(name),
		groundRacks*groundHosts, seed)
	for i := range jobs {
		for s := range jobs[i].Stages {
			for t := range jobs[i].Stages[s].Tasks {
				jobs[i].Stages[s].Tasks[t].Compute /= packetsFaster
			}
		}
	}
	return jobs, err
}

// unseen is a ground that no seed below heldOut runs on: jobs of two shuffles one after the other, on
// more racks with slower circuits.
func unseen(n int) ground {
	const fabric = "hybrid:racks=16,hosts=4,slots=4,spines=2,nic=2Gbps,eps=500Mbps,ocs=4Gbps,dark=40ms"
	return ground{"never looked at: two shuffles a job", fabric, "40ms", 0, source{"two shuffles", false,
		func(_ *Bench, seed uint64) ([]controller.Job, error) {
			return workload.TwoShuffles(n, 700*time.Millisecond, seed), nil
		}}}
}

// unseenTrace is a ground of a SWIM trace that no other seed and no other ground has.
func unseenTrace(trace string, heavy float64, dark string, n int) ground {
	name, _, _ := strings.Cut(trace, ".")
	return ground{fmt.Sprintf("never looked at: %s, %g %% heavy, dark %s, offered 50 %%", name,
		100*heavy, dark),
		groundFabric(dark), dark, 0.5, source{name, true, func(b *Bench, seed uint64) ([]controller.Job, error) {
			return mixedJobs(b, trace, heavy, n, seed)
		}}}
}

// there reports whether a ground's jobs can be drawn: SWIM's other traces need not be in the folder.
func (g *ground) there(b *Bench) bool {
	if !g.source.data {
		return true
	}
	if b.Data == "" {
		return false
	}
	if !slices.ContainsFunc(swimTraces, func(t string) bool {
		return strings.HasPrefix(t,
			g.source.name+".")
	}) {
		return true
	}
	_, err := os.Stat(filepath.Join(b.Data, "swim", g.source.name+".tsv.gz"))
	return err == nil
}
