package gating

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lightloom/cmd/lightloom-kube/northbound"
)

// prefix begins the names of slices that are Jobs'.
const prefix = "kube-"

// SliceName returns the name of a Job's slice.
func SliceName(job types.UID) string { return prefix + string(job) }

// jobOf returns the Job of a slice.
func jobOf(name string) types.UID { return types.UID(strings.TrimPrefix(name, prefix)) }

// World is what there is at one instant. Nothing of it is changed.
type World struct {
	Now     time.Time
	Jobs    []*batchv1.Job
	Pods    []*corev1.Pod
	Nodes   []*corev1.Node
	Hosts   []northbound.Host
	Slices  []northbound.Slice
	Owner   string        // of our slices
	Patient time.Duration // how long a Job that only wants circuits waits for them
	Starve  time.Duration // how long a Job waits until nodes are kept for it; 0: for ever
	Away    bool          // the Lightloom controller does not answer: Jobs that need no circuits start
}

// Release is a gate to be removed. Without a node the pod may run anywhere.
type Release struct {
	Pod         *corev1.Pod
	Node, Slice string
}

// Word is why a pod waits, or what has become of it.
type Word struct {
	Job     *batchv1.Job
	Pod     *corev1.Pod
	Reason  string
	Message string
	Ready   bool
}

// The reasons of a pod's condition.
const (
	Lit         = "CircuitsLit"
	Without     = "WithoutCircuits"
	NoRoom      = "NoRoom"
	Impossible  = "Impossible"
	Asked       = "SettingCircuits"
	NameIsTaken = "SliceOfOthers"
	AwayNow     = "ControllerAway"
)

// Plan is what is to be done, in the order of its fields.
type Plan struct {
	Free    []string             // slices of Jobs that are over, or that get other hosts
	Ask     []northbound.Request // slices
	Release []Release
	Evict   []*corev1.Pod // that wait for a node which is away
	Words   []Word
	Orphans []string // slices of Jobs that are not there: perhaps not yet
}

// Decide returns what is due.
func Decide(w *World) *Plan {
	d := decision{World: w, plan: &Plan{}, slices: map[string]*northbound.Slice{}, pods: map[types.UID][]*corev1.Pod{},
		taken: map[string]string{}, busy: map[int]string{}, racks: map[string]int{}, kept: map[string]bool{}}
	d.look()
	d.orphans()
	for _, j := range d.order() {
		d.serve(j)
	}
	return d.plan
}

type decision struct {
	*World
	plan   *Plan
	sites  []site
	slices map[string]*northbound.Slice // ours, by name
	pods   map[types.UID][]*corev1.Pod  // of Jobs with the gate
	taken  map[string]string            // which slice has a host
	busy   map[int]string               // which slice has a rack's port
	racks  map[string]int               // of hosts
	kept   map[string]bool              // hosts for a Job that has waited for too long
	first  string                       // that Job's name
}

// look fills the decision.
func (d *decision) look() {
	used := map[string][]*corev1.Pod{}
	for _, p := range d.Pods {
		if node := pinned(p); node != "" && !done(p) {
			used[node] = append(used[node], p)
		}
		if o := metav1.GetControllerOf(p); o != nil && o.Kind == "Job" && p.DeletionTimestamp == nil && !done(p) {
			d.pods[o.UID] = append(d.pods[o.UID], p)
		}
	}
	nodes := map[string]*corev1.Node{}
	for _, n := range d.Nodes {
		nodes[hostOf(n)] = n
	}
	for _, h := range d.Hosts {
		d.racks[h.Name] = h.Rack
		n := nodes[h.Name]
		if n == nil {
			continue
		}
		s := site{host: h.Name, rack: h.Rack, node: n, free: allocatable(n)}
		for _, p := range used[n.Name] {
			take(s.free, requests(p), 1)
		}
		d.sites = append(d.sites, s)
	}
	for i := range d.Slices {
		x := &d.Slices[i]
		if x.Owner == d.Owner && strings.HasPrefix(x.Name, prefix) {
			d.slices[x.Name] = x
		}
		d.hold(x.Name, x.Hosts)
	}
	d.running()
}

// running has Jobs keep the hosts where their pods run, and the ports, while their slice is being made anew.
func (d *decision) running() {
	byNode, held := map[string]string{}, map[string][]string{}
	for _, s := range d.sites {
		byNode[s.node.Name] = s.host
	}
	for job, pods := range d.pods {
		for _, p := range pods {
			if host := byNode[pinned(p)]; host != "" && p.Annotations[SliceKey] != "" && d.taken[host] == "" {
				held[SliceName(job)] = append(held[SliceName(job)], host)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(held)) {
		if d.slices[name] == nil {
			d.hold(name, held[name])
		}
	}
}

// hold notes whose hosts, and ports of racks, are.
func (d *decision) hold(slice string, hosts []string) {
	racks := map[int]bool{}
	for _, h := range hosts {
		d.taken[h] = slice
		if r, known := d.racks[h]; known {
			racks[r] = true
		}
	}
	if len(racks) > 1 {
		for r := range racks {
			d.busy[r] = slice
		}
	}
}

// drop is the inverse of hold.
func (d *decision) drop(slice string) {
	for h, by := range d.taken {
		if by == slice {
			delete(d.taken, h)
		}
	}
	for r, by := range d.busy {
		if by == slice {
			delete(d.busy, r)
		}
	}
}

// orphans finds slices whose Jobs are over, or are not there.
func (d *decision) orphans() {
	jobs := map[types.UID]*batchv1.Job{}
	for _, j := range d.Jobs {
		jobs[j.UID] = j
	}
	for i := range d.Slices {
		x := &d.Slices[i]
		if d.slices[x.Name] == nil {
			continue
		}
		switch j := jobs[jobOf(x.Name)]; {
		case j == nil:
			d.plan.Orphans = append(d.plan.Orphans, x.Name)
		case over(j) && len(d.pods[j.UID]) == 0:
			d.free(x.Name)
		}
	}
}

func (d *decision) free(name string) {
	d.plan.Free = append(d.plan.Free, name)
	d.drop(name)
	delete(d.slices, name)
}

// order returns the Jobs that may want something: the more urgent first, then the older.
func (d *decision) order() []*batchv1.Job {
	out := slices.DeleteFunc(slices.Clone(d.Jobs), func(j *batchv1.Job) bool {
		return !Gated(j) || over(j) || len(d.pods[j.UID]) == 0
	})
	urgent := func(j *batchv1.Job) int32 {
		if p := d.pods[j.UID][0].Spec.Priority; p != nil {
			return *p
		}
		return 0
	}
	slices.SortFunc(out, func(a, b *batchv1.Job) int {
		return cmp.Or(cmp.Compare(urgent(b), urgent(a)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.UID, b.UID))
	})
	return out
}

// group is a Job and what it has.
type group struct {
	*batchv1.Job
	Wish
	slice *northbound.Slice // nil: none
	gated []*corev1.Pod     // in the order of their index, then name
	there map[string]int    // pods that were released, by node
}

// serve decides about one Job.
func (d *decision) serve(j *batchv1.Job) {
	g := group{Job: j, slice: d.slices[SliceName(j.UID)], there: map[string]int{}}
	for _, p := range d.pods[j.UID] {
		switch node := pinned(p); {
		case hasGate(p.Spec.SchedulingGates):
			g.gated = append(g.gated, p)
		case p.Spec.NodeName == "" && node != "" && !d.up(node):
			d.plan.Evict = append(d.plan.Evict, p)
		case node != "":
			g.there[node]++
		}
	}
	slices.SortFunc(g.gated, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(index(a), index(b)), cmp.Compare(a.Name, b.Name))
	})
	var err error
	if g.Wish, err = ParseWish(j); err != nil {
		d.tell(&g, Impossible, err.Error())
		return
	}
	switch {
	case len(g.gated) == 0 && (g.slice != nil || !released(d.pods[j.UID])):
	case g.Circuits == None:
		d.without(&g, "circuits are not asked for")
	case d.Away:
		d.wait(&g, AwayNow, "the Lightloom controller does not answer")
	default:
		d.place(&g)
	}
}

// released reports whether pods were released onto a slice.
func released(pods []*corev1.Pod) bool {
	return slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.Annotations[SliceKey] != "" })
}

// up reports whether pods can come to run on a node.
func (d *decision) up(node string) bool {
	return slices.ContainsFunc(d.Nodes, func(n *corev1.Node) bool { return n.Name == node && usable(n) })
}

// index returns a pod's completion index, where its Job gives one.
func index(p *corev1.Pod) int {
	var i int
	if _, err := fmt.Sscan(p.Annotations[batchv1.JobCompletionIndexAnnotation], &i); err != nil {
		return 0
	}
	return i
}

// place gives a group its slice, or waits for it.
func (d *decision) place(g *group) {
	name := SliceName(g.UID)
	taken := func(x northbound.Slice) bool { return x.Name == name && x.Owner != d.Owner }
	if i := slices.IndexFunc(d.Slices, taken); i >= 0 {
		d.wait(g, NameIsTaken, fmt.Sprintf("slice %s is of owner %.40q: end it", name, d.Slices[i].Owner))
		return
	}
	if g.Shape != "" {
		d.placeShape(g)
		return
	}
	hosts, why := d.hostsFor(g)
	switch {
	case why != "" && hosts == nil:
		d.wait(g, why, d.whyNot(g, why))
		d.keep(g, why)
	case g.slice != nil && sameHosts(g.slice.Hosts, hosts):
		d.follow(g, hosts)
	default:
		d.ask(g, hosts)
	}
}

// keep has those behind a Job that has waited for too long leave it all nodes that take its pods: what ends there
// is then not given to smaller ones again and again.
func (d *decision) keep(g *group, why string) {
	if d.Starve <= 0 || d.first != "" || why != NoRoom || g.Circuits != Required || g.slice != nil ||
		!d.waited(g, d.Starve) {
		return
	}
	d.first = g.Namespace + "/" + g.Name
	for _, s := range d.sites {
		if admits(d.example(g), s.node) {
			d.kept[s.host] = true
		}
	}
}

// waited reports whether a pod of a group is that old.
func (d *decision) waited(g *group, long time.Duration) bool {
	return slices.ContainsFunc(g.gated, func(p *corev1.Pod) bool { return d.Now.Sub(p.CreationTimestamp.Time) >= long })
}

// ask asks for a slice on hosts, or of the group's shape, in place of the one it has. A request can be refused each
// time: a group that only wants circuits does not ask for ever.
func (d *decision) ask(g *group, hosts []site) {
	if d.late(g) {
		d.without(g, fmt.Sprintf("it had no slice of its hosts after %v", d.Patient))
		return
	}
	name := SliceName(g.UID)
	if g.slice != nil {
		d.free(name)
	}
	var names []string
	for _, s := range hosts {
		names = append(names, s.host)
	}
	slices.Sort(names)
	h := fnv.New64a()
	_, _ = h.Write([]byte(g.Shape + strings.Join(names, ","))) // it never fails
	d.hold(name, names)
	d.plan.Ask = append(d.plan.Ask, northbound.Request{ID: fmt.Sprintf("%s-%x", name, h.Sum64()), Name: name,
		Shape: g.Shape, Owner: d.Owner, Hosts: names})
	d.tell(g, Asked, "its circuits are asked for")
}

func sameHosts(names []string, hosts []site) bool {
	if len(names) != len(hosts) {
		return false
	}
	return !slices.ContainsFunc(hosts, func(s site) bool { return !slices.Contains(names, s.host) })
}

// hostsFor returns the hosts of a group: those of its slice if all of them still do, else those where its pods run and
// others. Where there are not enough it returns a reason.
func (d *decision) hostsFor(g *group) ([]site, string) {
	if had := d.had(g); had != nil {
		return had, ""
	}
	var keep, may []site
	name, reach := SliceName(g.UID), 0 // reach are hosts that it could ever have
	for _, s := range d.sites {
		runs, others := g.there[s.node.Name] > 0, d.taken[s.host] != "" && d.taken[s.host] != name
		if runs && others {
			return nil, NoRoom // which has it until it ends
		}
		if runs || admits(d.example(g), s.node) {
			reach++
		}
		switch {
		case runs:
			keep = append(keep, s)
		case !others && !d.kept[s.host] && d.fits(g, s):
			may = append(may, s)
		}
	}
	busy := map[int]bool{}
	for r, by := range d.busy {
		busy[r] = by != name
	}
	if hosts, ok := choose(keep, may, busy, max(g.Nodes, len(keep))); ok {
		return hosts, ""
	}
	if reach < g.Nodes {
		return nil, Impossible
	}
	return nil, NoRoom
}

// had returns the hosts of a group's slice, if it can stay as it is.
func (d *decision) had(g *group) (all []site) {
	if g.slice == nil || len(g.slice.Hosts) < g.Nodes {
		return nil
	}
	for _, s := range d.sites {
		switch in := slices.Contains(g.slice.Hosts, s.host); {
		case !in && g.there[s.node.Name] > 0:
			return nil
		case in && (g.there[s.node.Name] > 0 || d.fits(g, s)):
			all = append(all, s)
		}
	}
	if len(all) < len(g.slice.Hosts) {
		return nil
	}
	return all
}

// example returns a pod of the group as its template has it.
func (d *decision) example(g *group) *corev1.Pod {
	if len(g.gated) > 0 {
		return g.gated[0]
	}
	return &corev1.Pod{Spec: g.Spec.Template.Spec}
}

// fits reports whether as many pods as a node gets have room on a host.
func (d *decision) fits(g *group, s site) bool {
	p := d.example(g)
	return admits(p, s.node) && take(s.free.DeepCopy(), requests(p), g.each())
}

// whyNot says for people why there are no hosts.
func (d *decision) whyNot(g *group, reason string) string {
	switch {
	case len(d.sites) == 0:
		return fmt.Sprintf("none of the cluster's %d nodes is one of the fabric's %d hosts: name nodes like hosts, or "+
			"label them %s=HOST", len(d.Nodes), len(d.Hosts), HostLabel)
	case reason == Impossible && g.Nodes > len(d.sites):
		return fmt.Sprintf("it asks for %d nodes, and %d of the cluster's nodes are hosts of the fabric: ask for fewer (%s)",
			g.Nodes, len(d.sites), NodesKey)
	case reason == Impossible:
		return fmt.Sprintf("it asks for %d nodes, and fewer of the %d that are hosts of the fabric are ready and take its "+
			"pods", g.Nodes, len(d.sites))
	}
	if d.first != "" {
		return fmt.Sprintf("it asks for %d nodes: they are kept for Job %s, which has waited for more than %v", g.Nodes,
			d.first, d.Starve)
	}
	return fmt.Sprintf("it asks for %d nodes whose racks have free ports: others have them", g.Nodes)
}

// follow releases pods once the slice is Ready.
func (d *decision) follow(g *group, hosts []site) {
	x := g.slice
	switch {
	case x.State == northbound.Ready && len(hosts) > 0: // one of a shape has no cubes yet
		d.release(g, hosts)
	case x.State == northbound.Failed:
		d.wait(g, Impossible, x.Message)
	default:
		d.wait(g, cmp.Or(x.Reason, Asked), cmp.Or(x.Message, "slice "+x.Name+" is "+x.State))
	}
}

// release pins each gated pod to a host: those of adjacent index to the same one, or to adjacent racks.
func (d *decision) release(g *group, hosts []site) {
	hosts = slices.Clone(hosts)
	slices.SortFunc(hosts, func(a, b site) int {
		return cmp.Or(cmp.Compare(a.rack, b.rack), cmp.Compare(a.host, b.host))
	})
	each := (g.Pods + len(hosts) - 1) / len(hosts)
	room := func(s site) bool { return g.there[s.node.Name] < each }
	for k, p := range g.gated {
		at := index(p) / each
		if p.Annotations[batchv1.JobCompletionIndexAnnotation] == "" {
			at = k / each
		}
		if at < 0 || at >= len(hosts) || !room(hosts[at]) {
			at = slices.IndexFunc(hosts, room)
		}
		if at < 0 {
			d.word(g, p, NoRoom, "pods of its Job have all places of its nodes", false)
			continue
		}
		node := hosts[at].node.Name
		g.there[node]++
		d.plan.Release = append(d.plan.Release, Release{Pod: p, Node: node, Slice: g.slice.Name})
		d.word(g, p, Lit, "runs on "+node+", of slice "+g.slice.Name, true)
	}
}

// wait says why a group waits. One that only wants circuits has waited long enough at some time.
func (d *decision) wait(g *group, reason, message string) {
	d.tell(g, reason, message)
	if reason == Impossible && g.Circuits == Wanted || d.late(g) {
		d.without(g, message)
	}
}

// late reports whether a group only wants circuits and has waited for them long enough.
func (d *decision) late(g *group) bool {
	return g.Circuits == Wanted && d.waited(g, d.Patient)
}

// without releases pods that run without circuits.
func (d *decision) without(g *group, why string) {
	d.plan.Words = slices.DeleteFunc(d.plan.Words, func(w Word) bool { return w.Job == g.Job })
	for _, p := range g.gated {
		d.plan.Release = append(d.plan.Release, Release{Pod: p})
		d.word(g, p, Without, why, false)
	}
	if g.slice != nil && len(g.there) == 0 {
		d.free(g.slice.Name)
	}
}

func (d *decision) tell(g *group, reason, message string) {
	for _, p := range g.gated {
		d.word(g, p, reason, message, false)
	}
}

func (d *decision) word(g *group, p *corev1.Pod, reason, message string, ready bool) {
	d.plan.Words = append(d.plan.Words, Word{Job: g.Job, Pod: p, Reason: reason, Message: message, Ready: ready})
}
