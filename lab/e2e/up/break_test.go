package up

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/emulator/fault"
	"lightloom/lab/console"
	"lightloom/lab/labtest"
	"lightloom/lab/session"
)

// TestBreakWhatIsUp lets links, switches, hosts and replicas of a fabric that is up fail and come back,
// as a user would: pings go on over what is whole, status names what is not, and names that do not
// exist are answered with those near.
func TestBreakWhatIsUp(t *testing.T) {
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	startUp(t)
	strike := func(heal bool, kind fault.Kind, name string) string {
		t.Helper()
		var b bytes.Buffer
		if err := session.Break(context.Background(),
			session.BreakOptions{Fault: fault.Fault{Kind: kind, Name: name},
				Heal:   heal,
				Stdout: &b}); err != nil {
			t.Fatalf("%v %s: %v", kind, name, err)
		}
		return b.String()
	}
	ping := func(from, to string) bool {
		return exec.Command("/proc/self/exe", execCommand, from, "ping", "-c", "1", "-W", "1", to).Run() == nil
	}
	reached := func(from, to string) {
		t.Helper()
		for deadline := time.Now().Add(labtest.Hanging); !ping(from, to); {
			if time.Now().After(deadline) {
				t.Fatalf("%s does not reach %s", from, to)
			}
		}
	}
	if _, err := exec.LookPath("ping"); err != nil {
		t.Skip("needs ping")
	}

	reached("h0-0", "10.0.1.1")
	if got := strike(false, fault.Link, "spine0-tor0"); got != "link spine0-tor0 failed\n" {
		t.Errorf("fail says %q", got)
	}
	if got := strike(false, fault.Link, "tor0-spine0"); !strings.Contains(got, "had failed already") {
		t.Errorf("fail again says %q", got)
	}
	reached("h0-0", "10.0.1.1")
	strike(false, fault.Switch, "spine1")
	if ping("h0-0", "10.0.1.1") {
		t.Error("h0-0 reaches rack 1 with neither spine")
	}
	reached("h1-0", "10.0.2.1") // these have spine0 still
	strike(true, fault.Link, "tor0-spine0")
	reached("h0-0", "10.0.1.1")
	strike(true, fault.Switch, "spine1")
	if got := strike(false, fault.Port, "spine1:0"); got != "port spine1:0 failed\n" {
		t.Errorf("fail says %q", got)
	}
	reached("h0-0", "10.0.1.1")
	strike(true, fault.Port, "spine1-0")
	strike(false, fault.Link, "tor0-spine0")
	reached("h0-0", "10.0.1.1") // over a spine that has booted with an empty table

	leader := status(t).Leader
	strike(false, fault.Controller, leader)
	strike(false, fault.Host, "h2-1")
	st := status(t)
	for deadline := time.Now().Add(labtest.Hanging); st.Leader == leader || st.Leader == ""; st = status(t) {
		if time.Now().After(deadline) {
			t.Fatalf("no new leader after %s was killed", leader)
		}
	}
	want := []fault.Fault{{Kind: fault.Link, Name: "tor0-spine0"}, {Kind: fault.Host, Name: "h2-1"},
		{Kind: fault.Controller, Name: leader}}
	if !slices.Equal(st.Failed, want) {
		t.Errorf("failed %v, want %v", st.Failed, want)
	}
	strike(true, fault.Host, "h2-1")
	if failed := status(t).Failed; !slices.Equal(failed, []fault.Fault{want[0], want[2]}) {
		t.Errorf("failed %v once the host is back", failed)
	}
	strike(true, fault.Controller, leader)
	for deadline := time.Now().Add(labtest.Hanging); ; {
		st := status(t)
		if !slices.ContainsFunc(st.Replicas, func(r session.ReplicaStatus) bool {
			return r.Error != "" || r.Digest != st.Replicas[0].Digest
		}) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("replicas do not agree: %+v", st.Replicas)
		}
	}

	err := session.Break(context.Background(), session.BreakOptions{Fault: fault.Fault{Kind: fault.Host, Name: "h2-7"},
		Stdout: &bytes.Buffer{}})
	var hinted interface{ Hint() string }
	if err == nil || !strings.Contains(err.Error(), "near it: h2-0") || !errors.As(err, &hinted) ||
		!strings.Contains(hinted.Hint(), "write host h2-0") {
		t.Errorf("a host that is not: %v", err)
	}
}

// showStatus shows the status, whatever its verdict: what these tests break is told by its exit status too.
func showStatus(ctx context.Context, opt session.StatusOptions) error {
	err := session.ShowStatus(ctx, opt)
	var exit *console.ExitError
	if errors.As(err, &exit) && exit.Code == session.NotWell {
		return nil
	}
	return err
}

func status(t *testing.T) *session.Status {
	t.Helper()
	var b bytes.Buffer
	if err := showStatus(context.Background(), session.StatusOptions{Output: console.OutputJSON,
		Stdout: &b}); err != nil {
		t.Fatal(err)
	}
	st := &session.Status{}
	if err := json.Unmarshal(b.Bytes(), st); err != nil {
		t.Fatal(err)
	}
	return st
}
