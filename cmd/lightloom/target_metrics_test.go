package main

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/socket"
)

// TestTargetMetrics: a target's stages, as drawn from a preset, and its streams are served.
func TestTargetMetrics(t *testing.T) {
	at, release, err := socket.Hold()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	metrics := at.String()
	addr := startTarget(t, "--plaintext", "--ports", "4", "--delays", "mordia", "--metrics", metrics)
	d, err := gnmi.Dial(t.Context(), gnmi.Config{Name: "sw", Addr: addr, Plaintext: true,
		Profile: gnmi.OCP{Ports: 4}})
	if err != nil {
		t.Fatal(err)
	}
	err = d.Set(t.Context(), &southbound.Change{Connect: []southbound.CrossConnect{{In: 0, Out: 1}}})
	if err = errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	// The target reports the circuit's stages once the circuit is up; streams end some time after their
	// reader has gone.
	tick, late := time.NewTicker(10*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		text := scraped(t, metrics)
		missing := slices.DeleteFunc([]string{`lightloom_circuit_stage_seconds_sum{device="switch",stage="apply"} 6.85e-05`,
			"lightloom_target_streams 0", "lightloom_target_stream_queue_leaves 0"},
			func(want string) bool { return strings.Contains(text, want) })
		if len(missing) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%q is missing in\n%s", missing, text)
		}
	}
}

// scraped is what is served at an address of metrics.
func scraped(t *testing.T, addr string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + addr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(text)
}
