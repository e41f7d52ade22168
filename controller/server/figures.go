package server

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lightloom/controller/replica"
	"lightloom/controller/replica/rollcall"
	"lightloom/controller/state"
	"lightloom/southbound/pki"
)

// count registers what is counted as it happens.
func (x *exporter) count(reg prometheus.Registerer) {
	x.calls = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "lightloom_api_calls_total",
		Help: "Northbound calls and streams that have ended, by the code of their error, or ok. A forwarded call counts at " +
			"the leader too."}, []string{"call", "code"})
	x.callTime = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "lightloom_api_call_seconds",
		Help:    "How long northbound calls took; streams and denied calls are not in it.",
		Buckets: []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10, 30}}, []string{"call"})
	x.moves = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "lightloom_circuit_moves_total",
		Help: "Moves of circuits that ended while this replica led: connected or failed."}, []string{"result"})
	reg.MustRegister(x.calls, x.callTime, x.moves)
}

// answered implements api.Callers.Answered; nil where no metrics are served.
func (x *exporter) answered() func(call, code string, took time.Duration) {
	if x == nil {
		return nil
	}
	return func(call, code string, took time.Duration) {
		x.calls.WithLabelValues(call, code).Inc()
		if took > 0 {
			x.callTime.WithLabelValues(call).Observe(took.Seconds())
		}
	}
}

// life tells of a replica's process and its certificate.
func life(keys *pki.Source, restarts int) []prometheus.Collector {
	return []prometheus.Collector{
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "lightloom_replica_restarts_total",
			Help: "How often this replica's process has ended and its supervisor started it again."},
			func() float64 { return float64(restarts) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "lightloom_certificate_end_seconds",
			Help: "When this replica's certificate ends, in seconds since 1970."},
			func() float64 { return float64(keys.Identity().NotAfter().Unix()) }),
	}
}

// standing is what a replica knows when it is asked for its metrics.
type standing struct {
	replica.Stats
	state.Counts
	leads, ready              bool
	standing                  rollcall.Standing
	back, apart               int // peers
	backlogJobs, backlogBytes int
	watchers                  int
}

// figure is a metric that a standing gives.
type figure struct {
	*prometheus.Desc
	kind  prometheus.ValueType
	value func(*standing) float64
	label []string // its value
}

// figures are a replica's metrics that are read when they are asked for.
type figures struct {
	look func() *standing
	all  []figure
}

// Describe implements prometheus.Collector.
func (f figures) Describe(to chan<- *prometheus.Desc) {
	for _, x := range f.all {
		to <- x.Desc
	}
}

// Collect implements prometheus.Collector: it looks once, so that figures of one answer fit each other.
func (f figures) Collect(to chan<- prometheus.Metric) {
	now := f.look()
	for _, x := range f.all {
		to <- prometheus.MustNewConstMetric(x.Desc, x.kind, x.value(now), x.label...)
	}
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// newFigures lists what a replica tells of its log, its leadership and its jobs.
func newFigures(look func() *standing) figures {
	f := figures{look: look}
	add := func(kind prometheus.ValueType, name, help string, value func(*standing) float64) {
		f.all = append(f.all, figure{prometheus.NewDesc("lightloom_"+name, help, nil, nil), kind, value, nil})
	}
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	add(gauge, "replica_leads", "1 while this replica leads.", func(s *standing) float64 { return yes(s.leads) })
	add(gauge, "replica_ready", "1 while this replica leads and has brought all devices that answer into their state.",
		func(s *standing) float64 { return yes(s.ready) })
	add(gauge, "replica_votes", "1 once this replica takes part in elections since it started.",
		func(s *standing) float64 { return yes(s.standing == rollcall.Voting) })
	add(gauge, "peers_gone_back", "Replicas whose disks have gone back in time, as this one has seen.",
		func(s *standing) float64 { return float64(s.back) })
	add(gauge, "peers_apart", "Replicas that have stopped with other states than the leader's, as this one has heard.",
		func(s *standing) float64 { return float64(s.apart) })
	add(gauge, "leader_known", "1 while this replica knows a leader.",
		func(s *standing) float64 { return yes(s.Leader != "") })
	add(gauge, "raft_term", "The newest term that this replica knows.",
		func(s *standing) float64 { return float64(s.Term) })
	add(counter, "leader_changes_total", "Leaders that this replica has seen after the first.",
		func(s *standing) float64 { return float64(s.LeaderChanges) })
	add(counter, "leaderless_seconds_total", "How long this replica has known no leader after the first.",
		func(s *standing) float64 { return s.OutageTotal.Seconds() })
	add(counter, "log_committed_entries_total", "Index up to which the log is known to be held by a majority.",
		func(s *standing) float64 { return float64(s.Committed) })
	add(counter, "log_applied_entries_total", "Index up to which this replica has applied the log.",
		func(s *standing) float64 { return float64(s.Applied) })
	add(counter, "log_appends_total", "Entries that this replica has appended as a leader.",
		func(s *standing) float64 { return float64(s.Appends) })
	add(gauge, "backlog_jobs", "Jobs that wait to be written to the log, at the leader.",
		func(s *standing) float64 { return float64(s.backlogJobs) })
	add(gauge, "backlog_bytes", "What the jobs that wait for the log take in it at most.",
		func(s *standing) float64 { return float64(s.backlogBytes) })
	add(counter, "jobs_accepted_total", "Jobs that were accepted.", func(s *standing) float64 { return float64(s.Jobs) })
	add(counter, "jobs_ended_total", "Jobs that have ended, cancelled ones included.",
		func(s *standing) float64 { return float64(s.JobsEnded) })
	add(gauge, "coflows_running", "Coflows that have not ended.",
		func(s *standing) float64 { return float64(s.Coflows - s.CoflowsEnded) })
	add(gauge, "watchers", "Streams of jobs' changes that are open at this replica.",
		func(s *standing) float64 { return float64(s.watchers) })
	add(gauge, "cluster_level", "The feature level of the cluster.", func(s *standing) float64 { return float64(s.Level) })
	add(gauge, "replica_disk_failing", "1 while the replica's disk takes nothing and it stands back.",
		func(s *standing) float64 { return yes(s.DiskFailing) })
	add(counter, "replica_disk_failures_total", "Operations on the replica's disk that failed.",
		func(s *standing) float64 { return float64(s.DiskFailures) })
	labelled := func(name, help, label string) func(value string, of func(*standing) float64) {
		d := prometheus.NewDesc("lightloom_"+name, help, []string{label}, nil)
		return func(v string, of func(*standing) float64) { f.all = append(f.all, figure{d, gauge, of, []string{v}}) }
	}
	jobs := labelled("jobs", "Jobs that have not ended: waiting for places, or with places.", "phase")
	jobs("waiting", func(s *standing) float64 { return float64(s.JobsWaiting) })
	jobs("placed", func(s *standing) float64 { return float64(s.Jobs - s.JobsEnded - s.JobsWaiting) })
	commit := labelled("log_commit_seconds", "How long this leader's last appends took, by quantile.", "quantile")
	commit("0.5", func(s *standing) float64 { return s.CommitP50.Seconds() })
	commit("0.99", func(s *standing) float64 { return s.CommitP99.Seconds() })
	return f
}

// follow serves what a replica knows whenever it is asked.
func (x *exporter) follow(p *replicaProcess) {
	if x == nil {
		return
	}
	x.registry.MustRegister(newFigures(func() *standing {
		now := &standing{Stats: p.node.Stats(), Counts: p.state.Counts(), ready: p.current.Ready(),
			watchers: p.feed.Watchers()}
		now.standing, _ = p.node.Standing()
		for _, t := range p.node.Troubles() {
			if now.apart++; t.Back {
				now.apart, now.back = now.apart-1, now.back+1
			}
		}
		l := p.current.Leader()
		now.leads = l != nil
		now.backlogJobs, now.backlogBytes = l.Backlog()
		return now
	}))
}
