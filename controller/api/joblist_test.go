package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
)

// shelf knows jobs 0 to n−1, of ann and ben in turn, and tells of them one by one in a watch.
type shelf struct {
	n    controller.JobID
	asks *[]JobQuery
}

func (s shelf) info(id controller.JobID) *apiv1.JobInfo {
	return &apiv1.JobInfo{Id: int32(id), User: []string{"ann", "ben"}[id%2], Name: "j",
		Phase: apiv1.JobPhase_JOB_PHASE_RUNNING}
}

func (s shelf) Job(id controller.JobID) (*apiv1.GetJobResponse, error) {
	if id < 0 || id >= s.n {
		return nil, nil
	}
	return &apiv1.GetJobResponse{Job: s.info(id)}, nil
}

func (s shelf) Jobs(q JobQuery) (page []*apiv1.JobInfo, next controller.JobID, err error) {
	*s.asks = append(*s.asks, q)
	step := controller.JobID(1)
	if q.Down {
		step, q.From = -1, min(q.From, s.n-1)
	}
	for id := q.From; id >= 0 && id < s.n; id += step {
		if len(page) == q.Most {
			return page, id, nil
		}
		if Matches(q.Filter, s.info(id)) {
			page = append(page, s.info(id))
		}
	}
	return page, NoJob, nil
}

func (s shelf) WatchJobs(ctx context.Context, after uint64, sink func(*apiv1.JobsChanged) error) error {
	for id := controller.JobID(after); id < s.n; id++ {
		if err := sink(&apiv1.JobsChanged{Index: uint64(id) + 1,
			Jobs: []*apiv1.JobInfo{s.info(id)}}); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// TestJobPages: all jobs come in pages, in both directions and filtered, until the reader has enough.
func TestJobPages(t *testing.T) {
	var asks []JobQuery
	tc := newTestCluster(t, func(_ int, c *Config) { c.Jobs = shelf{7, &asks} })
	tc.lead(0)
	c := tc.dial(t, 1)
	for _, tt := range []struct {
		name  string
		query *apiv1.ListJobsRequest
		most  int
		want  []int32
		pages int
	}{
		{"all", &apiv1.ListJobsRequest{PageSize: 3}, 99, []int32{0, 1, 2, 3, 4, 5, 6}, 3},
		{"newest first", &apiv1.ListJobsRequest{PageSize: 3, NewestFirst: true}, 99,
			[]int32{6, 5, 4, 3, 2, 1, 0}, 3},
		{"of ben", &apiv1.ListJobsRequest{PageSize: 2, Filter: &apiv1.JobFilter{User: "ben"}}, 99,
			[]int32{1, 3, 5}, 2},
		{"two of them", &apiv1.ListJobsRequest{PageSize: 3, Filter: &apiv1.JobFilter{Ids: []int32{2, 6, 9}}}, 99,
			[]int32{2, 6}, 1},
		{"enough", &apiv1.ListJobsRequest{PageSize: 3}, 4, []int32{0, 1, 2, 3}, 2},
		{"from a token on", &apiv1.ListJobsRequest{PageToken: "5"}, 99, []int32{5, 6}, 1},
	} {
		asks = nil
		var got []int32
		err := c.Jobs(within(t, hanging), tt.query, func(j *apiv1.JobInfo) bool {
			got = append(got, j.Id)
			return len(got) < tt.most
		})
		if err != nil || !slices.Equal(got, tt.want) || len(asks) != tt.pages {
			t.Errorf("%s: %v in %d pages, %v; want %v in %d", tt.name, got, len(asks), err, tt.want, tt.pages)
		}
	}
	if asks[0].Most != defaultPage {
		t.Errorf("a page of no size has %d jobs, want %d", asks[0].Most, defaultPage)
	}
	for _, tt := range []struct {
		query *apiv1.ListJobsRequest
		code  Code
		want  string
	}{
		{&apiv1.ListJobsRequest{PageSize: MaxPage}, "", ""},
		{&apiv1.ListJobsRequest{PageSize: MaxPage + 1}, Invalid, "a page of 1001 jobs: take 1 to 1000"},
		{&apiv1.ListJobsRequest{PageSize: -1}, Invalid, "a page of -1 jobs"},
		{&apiv1.ListJobsRequest{PageToken: "x"}, Invalid, `page token "x" is none`},
		{&apiv1.ListJobsRequest{PageToken: "-1"}, Invalid, `page token "-1" is none`},
		{&apiv1.ListJobsRequest{Filter: &apiv1.JobFilter{Phases: []apiv1.JobPhase{0}}}, Invalid,
			"phase 0 in a filter"},
		{&apiv1.ListJobsRequest{Filter: &apiv1.JobFilter{Phases: []apiv1.JobPhase{99}}}, Invalid,
			"phase 99 in a filter"},
		{&apiv1.ListJobsRequest{Filter: &apiv1.JobFilter{Ids: make([]int32, maxIDs)}}, "", ""},
		{&apiv1.ListJobsRequest{Filter: &apiv1.JobFilter{Ids: make([]int32, maxIDs+1)}}, TooLarge,
			"16385 ids in a filter"},
	} {
		err := c.Jobs(within(t, hanging), tt.query, func(*apiv1.JobInfo) bool { return true })
		if tt.want == "" && err != nil ||
			tt.want != "" && (CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%v: %v, want %q", tt.query, err, tt.want)
		}
	}
}

// TestJobOf: a job is read by its id; one that is not known is said, and so is a controller that tells
// of none.
func TestJobOf(t *testing.T) {
	tc := newTestCluster(t, func(_ int, c *Config) { c.Jobs = shelf{7, new([]JobQuery)} })
	tc.lead(0)
	c := tc.dial(t, 2)
	if got, err := c.Job(within(t, hanging), 6, Read{}); err != nil || got.Job.Id != 6 ||
		got.Job.User != "ann" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := c.Job(within(t, hanging), 7, Read{}); CodeOf(err) != Unknown {
		t.Errorf("job 7: %v", err)
	}
	none := newTestCluster(t, func(_ int, c *Config) { c.Jobs = nil })
	none.lead(0)
	c = none.dial(t, 0)
	if _, err := c.Job(within(t, hanging), 0, Read{}); CodeOf(err) != Missing {
		t.Errorf("read a job: %v", err)
	}
	if err := c.Jobs(within(t, hanging), nil, func(*apiv1.JobInfo) bool { return true }); CodeOf(err) != Missing {
		t.Errorf("list jobs: %v", err)
	}
}

// TestJobsAreWatched: a watch goes on behind what its caller has, lets through what its filter does,
// and ends with the reader's error.
func TestJobsAreWatched(t *testing.T) {
	tc := newTestCluster(t, func(_ int, c *Config) { c.Jobs = shelf{7, new([]JobQuery)} })
	tc.lead(0)
	c := tc.dial(t, 0)
	enough := errors.New("enough")
	for _, tt := range []struct {
		ask  *apiv1.WatchJobsRequest
		want []int32
	}{
		{&apiv1.WatchJobsRequest{}, []int32{0, 1, 2, 3, 4, 5, 6}},
		{&apiv1.WatchJobsRequest{After: 4}, []int32{4, 5, 6}},
		{&apiv1.WatchJobsRequest{After: 1, Filter: &apiv1.JobFilter{User: "ann"}}, []int32{2, 4, 6}},
	} {
		var got []int32
		err := c.WatchJobs(within(t, 30*time.Second), tt.ask, func(m *apiv1.JobsChanged) error {
			for _, j := range m.Jobs {
				if got = append(got, j.Id); j.Id == 6 {
					return enough
				}
			}
			return nil
		})
		if !errors.Is(err, enough) || !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, %v; want %v", tt.ask, got, err, tt.want)
		}
	}
}

// sequel is what a watcher of jobs is told, in this order.
type sequel struct {
	shelf
	all []*apiv1.JobsChanged
}

func (s sequel) WatchJobs(ctx context.Context, _ uint64, send func(*apiv1.JobsChanged) error) error {
	for _, c := range s.all {
		if err := send(c); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// TestFilteredWatch: a watch of one user's jobs is told of the whole beginning, so that it knows where it
// ends, and after that of nothing that is not this user's.
func TestFilteredWatch(t *testing.T) {
	of := func(index uint64, user string, id int32) *apiv1.JobsChanged {
		return &apiv1.JobsChanged{Index: index, Jobs: []*apiv1.JobInfo{{Id: id, User: user}}}
	}
	first := of(0, "bob", 1)
	first.Reset_ = true
	all := []*apiv1.JobsChanged{first, of(0, "ann", 2), of(5, "bob", 3), of(6, "bob", 4),
		of(7, "ann", 5), of(8, "bob", 6),
		of(9, "ann", 7)}
	tc := newTestCluster(t, func(_ int, c *Config) { c.Jobs = sequel{shelf{7, new([]JobQuery)}, all} })
	tc.lead(0)
	c := tc.dial(t, 0)
	enough, got := errors.New("enough"), ""
	err := c.WatchJobs(within(t, 30*time.Second),
		&apiv1.WatchJobsRequest{Filter: &apiv1.JobFilter{User: "ann"}},
		func(m *apiv1.JobsChanged) error {
			if got += fmt.Sprint(m.Index, ":", len(m.Jobs), " "); m.Index == 9 {
				return enough
			}
			return nil
		})
	if want := "0:0 0:1 5:0 7:1 9:1 "; !errors.Is(err, enough) || got != want {
		t.Errorf("told %q, %v, want %q", got, err, want)
	}
}
