package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"lightloom/cmd/lightloom-kube/gating"
	"lightloom/cmd/lightloom-kube/northbound"
	"lightloom/cmd/lightloom-kube/slicing"
)

// TestDecoded: an object that cannot be read does not keep others from being read.
func TestDecoded(t *testing.T) {
	i := cache.NewSharedIndexInformer(&cache.ListWatch{}, &unstructured.Unstructured{}, 0, cache.Indexers{})
	for _, name := range []string{"b", "a", "bad2", "bad1"} {
		u := &unstructured.Unstructured{Object: map[string]any{"kind": "Slice",
			"metadata": map[string]any{"name": name, "uid": name}, "spec": map[string]any{"topology": "2x2x2"}}}
		if strings.HasPrefix(name, "bad") {
			u.Object["spec"] = "none"
		}
		if err := i.GetStore().Add(u); err != nil {
			t.Fatal(err)
		}
	}
	all, bad, err := decoded[slicing.Slice](i)
	if len(all) != 2 || all[0].Name != "a" || all[1].Name != "b" || len(bad) != 2 || bad[0].GetUID() != "bad1" {
		t.Errorf("%+v, %+v", all, bad)
	}
	if err == nil || strings.Index(err.Error(), "bad1") > strings.Index(err.Error(), "bad2") {
		t.Error(err)
	}
}

// TestNoSlices: only --slices and --kueue have Slices be watched.
func TestNoSlices(t *testing.T) {
	for args, want := range map[string]bool{"": false, "--slices": true, "--kueue": true} {
		ctx, cancel := context.WithCancel(t.Context())
		o, err := parse(append([]string{"--socket", "a"}, strings.Fields(args)...), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		k, err := newKubernetes(&rest.Config{Host: "http://127.0.0.1:1"})
		if err != nil {
			t.Fatal(err)
		}
		c := &controller{options: o, kube: k, say: func(string, ...any) {}}
		cancel() // nothing is to be watched for long
		var until sync.WaitGroup
		if err := c.watch(ctx, &until); err != nil {
			t.Error(err)
		}
		until.Wait()
		if (c.sliced != nil) != want {
			t.Errorf("%q: Slices are watched: %v", args, c.sliced != nil)
		}
		if err := c.serveSlices(ctx, &gating.World{}); err != nil {
			t.Error(err)
		}
	}
}

// TestMarkGoesOn: one node whose labels are refused does not keep others from theirs; what is forbidden is not
// repeated.
func TestMarkGoesOn(t *testing.T) {
	for status, want := range map[int]int{http.StatusUnprocessableEntity: 3, http.StatusForbidden: 1} {
		var mu sync.Mutex
		calls := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			calls++
			mu.Unlock()
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			reason := metav1.StatusReasonInvalid
			if status == http.StatusForbidden {
				reason = metav1.StatusReasonForbidden
			}
			_ = json.NewEncoder(w).Encode(metav1.Status{Status: metav1.StatusFailure, Code: int32(status), Reason: reason})
		}))
		k, err := newKubernetes(&rest.Config{Host: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		c, w := &controller{options: options{labels: true}, kube: k}, &gating.World{}
		for _, name := range []string{"a", "b", "c"} {
			w.Hosts = append(w.Hosts, northbound.Host{Name: name, Switch: "s"})
			w.Nodes = append(w.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		if err := c.markNodes(t.Context(), w); err == nil || calls != want {
			t.Errorf("%d: %d calls, want %d: %v", status, calls, want, err)
		}
		s.Close()
	}
}
