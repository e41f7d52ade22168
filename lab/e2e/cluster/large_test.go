package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/lab/labtest"
	"lightloom/southbound"
	"lightloom/southbound/noise"
)

// busy runs processes that never wait, until the test ends.
func busy(t *testing.T, n int) {
	t.Helper()
	for range n {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		cmd.SysProcAttr = alone()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
}

// largest is a job of as many flows as one may have.
func largest(name string, hosts int32) *controller.Job {
	flows := make([]controller.Flow, controller.MaxFlows)
	for i := range flows {
		src := int32(i) % hosts
		dst := (src + 1 + int32(i)/7%(hosts-1)) % hosts
		flows[i] = controller.Flow{Src: southbound.HostID(src), Dst: southbound.HostID(dst), Bytes: 1}
	}
	return &controller.Job{Name: name, Edges: []controller.Edge{{Flows: flows}}}
}

// TestLargestJobs: jobs of as many flows as one may have end no leader, beside processes that take all
// that the machine gives them. It wants the machine for itself: LIGHTLOOM_MEASURE=large.
func TestLargestJobs(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "large" {
		t.Skip("it measures, and wants the machine for itself: set LIGHTLOOM_MEASURE=large")
	}
	const jobs, others = 7, 14
	l := newLab(t)
	before, _ := l.leads(0, -1)
	watched := noise.Watch()
	job := largest("large", 3)
	busy(t, others)
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	var waits []time.Duration
	calls.Go(func() { // a tenant of small jobs
		for n := 0; ctx.Err() == nil; n++ {
			at := time.Now()
			if _, err := l.client.Submit(ctx, fmt.Sprint("small ", n), []*controller.Job{{Name: "small",
				Stages: []controller.Stage{{Name: "a",
					Tasks: []controller.Task{{Compute: time.Millisecond}}}}}}); err == nil {
				waits = append(waits, time.Since(at))
			} else if ctx.Err() == nil {
				t.Log("small: ", err)
			}
			labtest.Pause(ctx, 20*time.Millisecond)
		}
	})
	for n := range jobs {
		at := time.Now()
		_, err := l.client.Submit(ctx, fmt.Sprint("large ", n), []*controller.Job{job})
		t.Logf("large job %d: %v after %v", n, err, time.Since(at).Round(time.Millisecond))
	}
	cancel()
	calls.Wait()
	after, _ := l.leads(0, -1)
	t.Logf("%d jobs of %d flows beside %d busy processes: terms %d to %d; %d small jobs meanwhile, longest wait %v; %s",
		jobs, controller.MaxFlows, others, before, after, len(waits), slices.Max(append(waits,
			0)).Round(time.Millisecond),
		watched())
	if after != before {
		t.Errorf("%d elections, want none", after-before)
	}
}
