package workload

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// ChainOptions configure chains of MapReduce jobs that read what others of their chain wrote. Zero
// values take the default in brackets. How much each job reads and writes are our assumptions,
// chains-v1.
type ChainOptions struct {
	Seed    uint64
	Kind    string        // one of ChainKinds
	Chains  int           // [9; 22 queries of tpch and tpch-tez, 1 of dag]
	Every   time.Duration // from one arrival of a chain to the next, at most MaxGap [5 min; 68 s of queries]
	Poisson bool          // gaps are exponential with mean Every
	Least   pathmap.Bytes // of a chain's input, log-uniform to Most [50 GB; of ml, Table I of Dawn]
	Most    pathmap.Bytes
	Maps    int           // tasks [24]
	Reduces int           // tasks [12]
	Rounds  int           // of kmeans and pagerank [9 and 5: 11 jobs each]
	Rate    pathmap.Bytes // that a task computes on in a second [100 MB]
	Hosts   int           // that the inputs lie on [1]
	Blocks  bool          // inputs are blocks with three copies
}

// farRate is at how many bytes a second a task reads a block of which its rack has no copy, beside the network.
const farRate = 10e6

// ChainKinds are the kinds of chains: three of learning, those three in turn (ml), queries as a
// MapReduce job for each step or as one job of many stages (tez), and twelve jobs that read from each
// other as drawn.
func ChainKinds() []string {
	return []string{"kmeans", "bayes", "pagerank", "ml", "tpch", "tpch-tez", "dag"}
}

func (o ChainOptions) defaults() ChainOptions {
	query := strings.HasPrefix(o.Kind, "tpch")
	switch {
	case query:
		set(&o.Chains, len(queryTables()))
		set(&o.Every, 25*time.Minute/22)
	case o.Kind == "dag":
		set(&o.Chains, 1)
	}
	if o.Least == 0 && o.Kind != "ml" {
		o.Least, o.Most = 50e9, 50e9
	}
	set(&o.Chains, len(tableI()))
	set(&o.Every, 5*time.Minute)
	set(&o.Most, o.Least)
	set(&o.Maps, 24)
	set(&o.Reduces, 12)
	set(&o.Rate, 100e6)
	set(&o.Hosts, 1)
	return o
}

// maxChainBytes keeps what a job of a chain reads below controller.MaxBytes.
const maxChainBytes = controller.MaxBytes / 8

func (o *ChainOptions) check() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("draw %s jobs: "+format, append([]any{o.Kind}, args...)...)
	}
	switch {
	case o.Chains < 1 || o.Chains > maxJobs>>8:
		return fail("%d chains: take 1 to %d", o.Chains, maxJobs>>8)
	case o.Every < 0 || o.Every > 365*24*time.Hour:
		return fail("one every %v: take 0 to a year", o.Every)
	case o.Maps < 1 || o.Reduces < 1 || o.Maps > controller.MaxTasks/maxSteps ||
		o.Reduces > controller.MaxFlows/o.Maps/maxSteps:
		return fail("%d maps and %d reduces: take at least 1 of each and at most %d pairs", o.Maps, o.Reduces,
			controller.MaxFlows/maxSteps)
	case o.Least < 0 || o.Most < o.Least || o.Most > maxChainBytes:
		return fail("%d to %d bytes of input: take 1 to %d, the least first", o.Least, o.Most, maxChainBytes)
	case o.Rounds > 100:
		return fail("%d rounds: take 1 to 100", o.Rounds)
	case o.Rate < 1:
		return fail("tasks compute on %d bytes a second: take 1 or more", o.Rate)
	}
	return nil
}

// maxSteps bounds the stages of one job: the steps of a query.
const maxSteps = 32

// step is one job of a chain. Its sizes are parts of the chain's input.
type step struct {
	name    string
	reads   []source
	shuffle float64 // 0: it has maps alone
}

// source is what a step reads: of an earlier step (from 0), or of the input (-1).
type source struct {
	from int
	part float64
	all  bool // each map reads all of it
}

// input is the first source of most steps.
func input(part float64) source { return source{from: -1, part: part} }

// size is what a step reads.
func (s *step) size() float64 {
	sum := 0.0
	for _, r := range s.reads {
		sum += r.part
	}
	return sum
}

// kmeans is a first draw of centres, the rounds that move them, and the assignment of all points. Each
// reads the points and all centres.
func kmeans(rounds int) []step {
	const centres = 0.001
	all := []step{{name: "seed", reads: []source{input(1)}, shuffle: 0.01}}
	for i := range rounds {
		all = append(all, step{fmt.Sprint("move", i+1), []source{input(1), {i, centres, true}}, 0.05})
	}
	return append(all, step{"assign", []source{input(1), {rounds, centres, true}}, 0})
}

// pagerank is rounds of two jobs, one that joins ranks with links and one that adds up, and a last one
// that sorts.
func pagerank(rounds int) []step {
	all := []step{}
	for i := range rounds {
		join := step{fmt.Sprint("join", i+1), []source{input(0.8)}, 1}
		if i > 0 {
			join.reads = append(join.reads, source{2*i - 1, 0.2, false})
		}
		all = append(all, join, step{fmt.Sprint("add", i+1), []source{{2 * i, 0.8, false}}, 0.8})
	}
	return append(all, step{"sort", []source{{2*rounds - 1, 0.2, false}}, 0.2})
}

// bayes turns documents into weighted vectors and trains on them, as Mahout does.
func bayes() []step {
	of := func(from int, part float64) source { return source{from: from, part: part} }
	return []step{
		{"tokens", []source{input(1)}, 0.9},
		{"words", []source{of(0, 0.9)}, 0.3},
		{"counts", []source{of(0, 0.9), {1, 0.01, true}}, 0.8},
		{"merge", []source{of(2, 0.8)}, 0.8},
		{"documents", []source{of(3, 0.8)}, 0.2},
		{"weights", []source{of(3, 0.8), {4, 0.01, true}}, 0.8},
		{"norms", []source{of(5, 0.8)}, 0.8},
		{"sums", []source{of(6, 0.8)}, 0.4},
		{"labels", []source{of(6, 0.8)}, 0.2},
		{"train", []source{of(7, 0.2), of(8, 0.1)}, 0.3},
		{"test", []source{of(6, 0.8), {9, 0.01, true}}, 0},
	}
}

// queryTables are the tables that the 22 queries of TPC-H join, in order: lineitem, orders, partsupp
// (x), part, customer and supplier. Nation and region are tiny and left out.
func queryTables() []string {
	return strings.Split("L pxS CoL oL CoLs L SLoC psLoC pSLxo CoL xS oL Co LP Ls xPs LP CoL LP sxPL sLo Co", " ")
}

// tableShare is a table's part of the bytes of the database.
func tableShare(letter byte) float64 {
	return map[byte]float64{'l': 0.70, 'o': 0.16, 'x': 0.11, 'p': 0.022, 'c': 0.022, 's': 0.0013}[letter|0x20]
}

// query selects from each table, joins them one after the other, aggregates and sorts. r draws how much
// each step lets through.
func query(tables string, r *rand.Rand) []step {
	pass := func() float64 { return math.Pow(10, -r.Float64()) }
	var all []step
	add := func(name string, shuffle float64, reads ...source) source {
		s := step{name, reads, 0}
		s.shuffle = shuffle * s.size()
		all = append(all, s)
		return source{from: len(all) - 1, part: s.size() * pass()}
	}
	var parts []source
	for i := range tables {
		from := input(tableShare(tables[i]))
		if len(tables) > 1 {
			from = add(fmt.Sprint("select", i+1), 0, from)
		}
		parts = append(parts, from)
	}
	last := parts[0]
	for i, p := range parts[1:] {
		last = add(fmt.Sprint("join", i+1), 1, last, p)
	}
	last = add("group", 1, last)
	add("sort", 1, last)
	return all
}

// dagJobs is how many jobs of Dawn's case study read from each other.
const dagJobs = 12

// drawnDAG draws a third to two thirds of the jobs as roots; each other reads from one to three before it.
func drawnDAG(r *rand.Rand) []step {
	roots := dagJobs/3 + r.IntN(dagJobs/3+1)
	var all []step
	for i := range dagJobs {
		s := step{name: fmt.Sprint("job", i+1), shuffle: 1}
		if i < roots {
			s.reads = []source{input(1.0 / dagJobs)}
		} else {
			from := r.Perm(i)[:1+r.IntN(3)]
			slices.Sort(from)
			for _, k := range from {
				s.reads = append(s.reads, source{k, 1.0 / dagJobs / float64(len(from)), false})
			}
		}
		s.shuffle = s.size()
		all = append(all, s)
	}
	return all
}

// tableI is the inputs of Dawn's Table I in tenths of a gigabyte, those of a kind in turn.
func tableI() []pathmap.Bytes {
	return []pathmap.Bytes{18_500e6, 34_800e6, 32_400e6, 37_500e6, 52_800e6, 51_600e6, 75_000e6,
		69_900e6, 64_800e6}
}

// Chains draws chains in order of arrival, the first at 0; the jobs of one arrive together, parents
// first. The input of a chain lies in even parts on hosts drawn for it, and is read over the network
// from there.
func Chains(opt ChainOptions) ([]controller.Job, error) {
	if !slices.Contains(ChainKinds(), opt.Kind) {
		return nil, fmt.Errorf("draw chains: kind %q is unknown: write %s", opt.Kind,
			strings.Join(ChainKinds(), ", "))
	}
	opt = opt.defaults()
	if err := opt.check(); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(opt.Seed, 0x636861696e))
	var jobs []controller.Job
	at := time.Duration(0)
	for i := range opt.Chains {
		c := &chainDraw{o: &opt, r: r, name: fmt.Sprintf("%03d-%s", i, opt.Kind), at: at,
			bytes: opt.drawInput(i, r)}
		steps := c.steps(i)
		for range opt.Maps {
			c.input = append(c.input, southbound.HostID(r.IntN(opt.Hosts)))
		}
		if opt.Kind == "tpch-tez" {
			jobs = append(jobs, c.stages(steps))
		} else {
			for k := range steps {
				jobs = append(jobs, c.job(steps, k))
			}
		}
		at += gap(opt.Every, opt.Poisson, r)
	}
	return jobs, nil
}

func (o *ChainOptions) drawInput(i int, r *rand.Rand) pathmap.Bytes {
	if o.Least == 0 {
		return tableI()[i%len(tableI())]
	}
	least, most := math.Log(float64(o.Least)), math.Log(float64(o.Most))
	return min(max(pathmap.Bytes(math.Round(math.Exp(least+r.Float64()*(most-least)))), o.Least), o.Most)
}

// chainDraw is one chain being drawn.
type chainDraw struct {
	o     *ChainOptions
	r     *rand.Rand
	name  string
	at    time.Duration
	bytes pathmap.Bytes
	input []southbound.HostID
}

func (c *chainDraw) steps(i int) []step {
	kind := c.o.Kind
	if kind == "ml" {
		kind = ChainKinds()[i%3]
	}
	switch kind {
	case "kmeans":
		return kmeans(cmp.Or(c.o.Rounds, 9))
	case "bayes":
		return bayes()
	case "pagerank":
		return pagerank(cmp.Or(c.o.Rounds, 5))
	case "dag":
		return drawnDAG(c.r)
	}
	all := queryTables()
	return query(all[i%len(all)], c.r)
}

// of is a part of the chain's input, at least a byte.
func (c *chainDraw) of(part float64) pathmap.Bytes {
	return max(pathmap.Bytes(part*float64(c.bytes)), 1)
}

// tasks are n tasks that share a part of the input.
func (c *chainDraw) tasks(n int, part float64) []controller.Task {
	t := make([]controller.Task, n)
	for i := range t {
		t[i].Compute = after(float64(c.of(part)) / float64(n) / float64(c.o.Rate))
	}
	return t
}

// blocks has tasks share a part of the input as blocks of the file system.
func (c *chainDraw) blocks(tasks []controller.Task, part float64) {
	for i := range tasks {
		tasks[i].Input = max(c.of(part)/pathmap.Bytes(len(tasks)), 1)
		tasks[i].NonLocal = after(float64(tasks[i].Input) / farRate)
	}
}

// jobName is the name of a step's job.
func (c *chainDraw) jobName(s *step) string { return c.name + "-" + s.name }

// job is one step as a job of maps and, if it shuffles, reduces.
func (c *chainDraw) job(steps []step, k int) controller.Job {
	s := &steps[k]
	j := controller.Job{Name: c.jobName(s), Arrival: c.at, Weight: 1, Incremental: true,
		Stages: []controller.Stage{{Name: "map", Tasks: c.tasks(c.o.Maps, s.size())}}}
	for _, from := range s.reads {
		if from.from < 0 && c.o.Blocks {
			c.blocks(j.Stages[0].Tasks, from.part)
			continue
		}
		read := &controller.Read{Kind: controller.OneToOne}
		if from.all {
			read.Kind = controller.Broadcast
		}
		if from.from < 0 {
			read.Hosts = c.input
		} else {
			read.Job = c.jobName(&steps[from.from])
		}
		j.Edges = append(j.Edges, controller.Edge{Kind: controller.Fixed, Bytes: c.of(from.part), Reads: read})
	}
	if s.shuffle > 0 {
		j.Stages = append(j.Stages, controller.Stage{Name: "reduce", Tasks: c.tasks(c.o.Reduces, s.shuffle)})
		j.Edges = append(j.Edges, controller.Edge{Kind: controller.ScatterGather, From: 0, To: 1,
			Bytes: c.of(s.shuffle)})
	}
	return j
}

// stages is all steps as the stages of one job: what reads the input has as many tasks as maps, others
// as reduces.
func (c *chainDraw) stages(steps []step) controller.Job {
	j := controller.Job{Name: c.name, Arrival: c.at, Weight: 1, Incremental: true}
	for k := range steps {
		s := &steps[k]
		tasks := c.tasks(c.o.Reduces, s.size())
		for _, from := range s.reads {
			e := controller.Edge{Kind: controller.ScatterGather, From: from.from, To: k, Bytes: c.of(from.part)}
			if from.from < 0 {
				tasks = c.tasks(c.o.Maps, s.size())
				if c.o.Blocks {
					c.blocks(tasks, from.part)
					continue
				}
				e.Kind, e.From = controller.Fixed, 0
				e.Reads = &controller.Read{Kind: controller.OneToOne, Hosts: c.input}
			}
			j.Edges = append(j.Edges, e)
		}
		j.Stages = append(j.Stages, controller.Stage{Name: s.name, Tasks: tasks})
	}
	return j
}

// ChainLines describes chains-v1 for a report, an assumption a line.
func ChainLines(opt ChainOptions) []string {
	o := opt.defaults()
	return []string{
		fmt.Sprintf("chains-v1: %d maps and %d reduces a job, %d MB/s a task; a stage reads when all of its tasks have "+
			"slots, so a job of any input fits the slots", o.Maps, o.Reduces, o.Rate/1e6),
		"inputs in one copy: in even parts on hosts drawn at random, and a stage waits for all; inputs as blocks: three " +
			"copies, read over the network by each task whose rack has none; with --remote-reads beside at 10 MB/s, not over it",
		"what jobs of k-means, Bayes, PageRank and of queries read, shuffle and write is ours, in parts of the input",
		cmp.Or(map[string]string{"dag": fmt.Sprintf("twelve jobs, 4 to 8 of them roots, the others read from one to three "+
			"before them; %d bytes in all", o.Most)}[o.Kind], "the jobs of a chain arrive together"),
	}
}
