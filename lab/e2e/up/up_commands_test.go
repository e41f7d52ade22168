package up

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/controller/api"
	"lightloom/emulator/fault"
	"lightloom/lab/console"
	"lightloom/lab/labtest"
	"lightloom/lab/northbound"
	"lightloom/lab/session"
	"lightloom/pathmap"
)

// jobsOfUp: submit --wait returns once the jobs have ended, and jobs lists them.
func jobsOfUp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.yaml")
	if err := os.WriteFile(file, []byte("jobs:\n  - name: copy\n    stages:\n      - {name: a, tasks: 2, compute: 10ms}\n"+
		"      - {name: b}\n    edges:\n      - {from: a, to: b, bytes: 100KB}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	opt := session.SubmitOptions{File: file, Wait: true, Output: console.OutputTable, Stdout: &b, Stderr: &b}
	if err := session.Submit(t.Context(), opt); err != nil ||
		!strings.HasPrefix(b.String(), "job 0 (copy) ended after ") {
		t.Fatalf("%q, %v", b.String(), err)
	}
	b.Reset()
	if err := session.ShowJobs(t.Context(), session.JobsOptions{Output: console.OutputJSON,
		Stdout: &b}); err != nil {
		t.Fatal(err)
	}
	var all []session.JobStatus
	if err := json.Unmarshal(b.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].State != "ended" || len(all[0].Hosts) != 3 || all[0].Sent != 1 ||
		all[0].Bytes != 100_000 {
		t.Errorf("%s", b.String())
	}
}

// faultsOfUp: heal all mends whatever has failed.
func faultsOfUp(t *testing.T) {
	var b bytes.Buffer
	opt := session.BreakOptions{Output: console.OutputTable, Stdout: &b}
	for _, f := range []fault.Fault{{Kind: fault.Link, Name: "tor0-spine0"},
		{Kind: fault.Host, Name: "h2-1"}} {
		opt.Fault = f
		if err := session.Break(t.Context(), opt); err != nil {
			t.Fatal(err)
		}
	}
	b.Reset()
	for range 2 {
		if err := session.Break(t.Context(), session.BreakOptions{Heal: true, All: true,
			Stdout: &b}); err != nil {
			t.Fatal(err)
		}
	}
	if want := "link tor0-spine0 healed\nhost h2-1 healed\nnothing has failed\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// reservationsOfUp: a reservation says how packets are marked, and is listed until it is released.
func reservationsOfUp(t *testing.T) {
	var b bytes.Buffer
	ask := &api.BandwidthRequest{Owner: "test", Pair: api.HostPair{Src: "h0-0", Dst: "h1-0"},
		Rate: pathmap.Mbps}
	if err := session.Reserve(t.Context(), session.ReserveOptions{Request: ask, Stdout: &b}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "ping -Q ") {
		t.Errorf("%q does not say how packets are marked", b.String())
	}
	for _, want := range []string{"h0-0 tor0", "no reservations"} {
		labtest.Await(t, "the list to say "+want, func() bool { // the replica that is asked can be behind
			b.Reset()
			err := session.ListReservations(t.Context(), northbound.Flags{}, console.OutputTable, &b)
			return err == nil && strings.Contains(b.String(), want)
		})
		_ = session.Reserve(t.Context(), session.ReserveOptions{Release: 1, Stdout: &b})
	}
}
