package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// TestTargetMetrics: a target's stages, as drawn from a preset, and its streams are served.
func TestTargetMetrics(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	metrics := l.Addr().String() // free, and will be again in a moment
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	addr := startTarget(t, "--plaintext", "--ports", "4", "--delays", "mordia", "--metrics", metrics)
	d, err := gnmi.Dial(t.Context(), gnmi.Config{Name: "sw", Addr: addr, Plaintext: true, Profile: gnmi.OCP{Ports: 4}})
	if err != nil {
		t.Fatal(err)
	}
	err = d.Set(t.Context(), &southbound.Change{Connect: []southbound.CrossConnect{{In: 0, Out: 1}}})
	if err = errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`lightloom_circuit_stage_seconds_sum{device="switch",stage="apply"} 6.85e-05`, "lightloom_target_streams 0", "lightloom_target_stream_queue_leaves 0"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}
