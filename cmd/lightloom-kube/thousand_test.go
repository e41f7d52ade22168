package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lightloom/cmd/lightloom-kube/gating"
)

// counter counts requests to an API server on their way.
type counter struct {
	mu  sync.Mutex
	all map[string]int
}

func (c *counter) count(r *http.Request) {
	what := r.Method
	switch q := r.URL.Query(); {
	case q.Get("sendInitialEvents") == "true": // a watch that begins with all that there is
		what = "list or get"
	case r.Method == http.MethodGet && q.Get("watch") != "":
		what = "watch"
	case r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/leases/"):
		what = "lease"
	case r.Method == http.MethodGet:
		what = "list or get"
	}
	c.mu.Lock()
	c.all[what]++
	c.mu.Unlock()
}

func (c *counter) of(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[what]
}

// TestThousand: with 1,000 Jobs in the queue nothing is listed once this program has its watches.
func TestThousand(t *testing.T) {
	measured(t)
	f, s, ours := startFabric(t, racks), startServers(t), build(t)
	s.apply()
	s.nodes(4, 2)
	c := &counter{all: map[string]int{}}
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // made as the server starts
	between := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.count(r)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	start(t, t.TempDir(), ours, "--socket", f.socket, "--kubeconfig", writeConfig(t, between.URL, "{token: ours-token}"))
	const jobs = 1000
	for i := range jobs {
		s.job(fmt.Sprintf("q%d", i), 1, map[string]string{lasts: "5s"})
	}
	await(t, "all to be told why they wait", func() bool { return s.told() == jobs })
	lists, patches := c.of("list or get"), c.of("PATCH")
	const while = 30 * time.Second // that nothing is listed is told by no event
	select {
	case <-time.After(while):
	case <-t.Context().Done():
	}
	t.Logf("%d Jobs: %d lists or gets before, %d watches; in the %v after: %d lists or gets, %d changes", jobs, lists,
		c.of("watch"), while, c.of("list or get")-lists, c.of("PATCH")-patches)
	if n := c.of("list or get") - lists; n > 0 {
		t.Errorf("%d lists or gets", n)
	}
	if lists > 20 || c.of("PATCH") == 0 {
		t.Errorf("%v", c.all)
	}
}

// told returns how many Jobs have a pod that says why it waits, or that it does not.
func (s *servers) told() int {
	s.Helper()
	l, err := s.admin.core.Pods("default").List(s.Context(), metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		s.Fatal(err)
	}
	jobs := map[string]bool{}
	for i := range l.Items {
		p := &l.Items[i]
		if slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == gating.Condition }) {
			jobs[p.Labels[batchv1.JobNameLabel]] = true
		}
	}
	return len(jobs)
}
