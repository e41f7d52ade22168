package program_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/policytest"
	"lightloom/controller/policy/program"
	"lightloom/controller/policy/program/programtest"
	"lightloom/southbound"
)

// behaveEnv has the test's own program behave as a policy.
const behaveEnv = "LIGHTLOOM_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if how := os.Getenv(behaveEnv); how != "" {
		behave(how)
		return
	}
	os.Exit(m.Run())
}

// behave is a program that routes by ECMP, or one that misbehaves.
func behave(how string) {
	begin := func() error { return json.NewEncoder(os.Stdout).Encode(program.Echo{Version: program.Version}) }
	change := func(*program.Answer) {}
	switch how {
	case "version":
		begin = func() error { _, err := fmt.Println(`{"lightloom":7}`); return err }
	case "gigabyte":
		begin = func() error {
			for line := strings.Repeat("x", 1<<20); ; {
				if _, err := fmt.Print(line); err != nil {
					return err
				}
			}
		}
	case "exits":
		begin = func() error { return errors.New("no answer") }
	case "garbage":
		begin = func() error { _, err := fmt.Println("garbage"); return err }
	case "silent":
		begin = func() error { _, err := io.Copy(io.Discard, os.Stdin); return err }
	case "exits_later":
		change = func(*program.Answer) { os.Exit(1) }
	case "garbage_later":
		change = func(*program.Answer) { fmt.Println("garbage") }
	case "too_few":
		change = func(a *program.Answer) { a.Route = a.Route[1:] }
	case "no_such_path":
		change = func(a *program.Answer) { a.Route[0] = 99 }
	}
	if _, err := programtest.ECMP(os.Stdin, os.Stdout, begin, change); err != nil && how == "ecmp" {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func own(t testing.TB, how string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "exec:env " + behaveEnv + "=" + how + " " + self
}

func asked(t testing.TB, over policy.Overrides) controller.Policy {
	t.Helper()
	p, err := policy.New("random+ecmp", policy.Options{Overrides: over})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := policy.Close(p); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestSameAsECMP: a program that routes by ECMP plans as the part ecmp does, asked anew or again and again.
func TestSameAsECMP(t *testing.T) {
	again := asked(t, policy.Overrides{Route: own(t, "ecmp")})
	for seed := range uint64(40) {
		v := policytest.View(seed)
		want := fmt.Sprintf("%+v", asked(t, policy.Overrides{}).Decide(v, nil).Route)
		got := again.Decide(v, nil)
		if text := fmt.Sprintf("%+v", got.Route); got.Err != nil || text != want {
			t.Fatalf("view %d: %v, routes\n%s\nwant\n%s", seed, got.Err, text, want)
		}
	}
}

// BenchmarkAsked decides by ecmp, and by a program under way that does likewise.
func BenchmarkAsked(b *testing.B) {
	v := busy(b)
	for name, over := range map[string]policy.Overrides{"ecmp": {}, "program": {Route: own(b, "ecmp")}} {
		b.Run(name, func(b *testing.B) {
			p := asked(b, over)
			for b.Loop() {
				if plan := p.Decide(v, nil); plan.Err != nil {
					b.Fatal(plan.Err)
				}
			}
		})
	}
}

// TestMisbehaving: whatever a program does, the plan says what, and no further plan is made.
func TestMisbehaving(t *testing.T) {
	for _, tt := range []struct{ how, want string }{
		{"version", "it answers version 7"},
		{"exits", "closed its standard output"},
		{"garbage", "invalid character"},
		{"silent", "no whole line came within 100ms"},
		{"gigabyte", "longer than"},
		{"exits_later", "closed its standard output"},
		{"garbage_later", "invalid character"},
		{"too_few", "paths for"},
		{"no_such_path", "is given path 99"},
	} {
		t.Run(tt.how, func(t *testing.T) {
			patience := program.Patience
			if tt.how == "silent" {
				patience = 100 * time.Millisecond
			}
			part := program.RouteWithin(strings.TrimPrefix(own(t, tt.how), "exec:"), patience)
			p := policy.Compose(nil, nil, part, nil)
			v := busy(t)
			first := p.Decide(v, nil).Err
			if first == nil || !strings.Contains(first.Error(), tt.want) {
				t.Errorf("got %v, want %q", first, tt.want)
			}
			if err := part.Close(); err != nil {
				t.Error(err)
			}
			if err := p.Decide(v, nil).Err; err == nil {
				t.Error("it is asked after its end")
			}
		})
	}
}

// busy is a view with host flows that lack a route.
func busy(t testing.TB) *controller.View {
	t.Helper()
	for seed := range uint64(100) {
		v := policytest.View(seed)
		p := asked(t, policy.Overrides{}).Decide(v, nil)
		for _, r := range p.Route {
			for _, tag := range r.Tags {
				if tag != southbound.TagDefault {
					return v
				}
			}
		}
	}
	t.Fatal("no view has anything to route")
	return nil
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		over policy.Overrides
		want string
	}{
		{policy.Overrides{Route: "exec:"}, "name a program"},
		{policy.Overrides{Share: "exec: "}, "name a program"},
	} {
		if _, err := policy.New("random", policy.Options{Overrides: tt.over}); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.over, err, tt.want)
		}
	}
	if _, err := policy.New("random+exec:./x", policy.Options{}); err == nil ||
		!strings.Contains(err.Error(), "--route or --share exec:./x") {
		t.Errorf("exec: as a part of a name: %v", err)
	}
}

// FuzzAnswer: any line is an answer or an error, and no plan that passes breaks a law of ours.
func FuzzAnswer(f *testing.F) {
	f.Add(`{"place":[{"job":1,"hosts":[0,1]}]}`)
	f.Add(`{"route":[0,1,2]}`)
	f.Add(`{"order":[3,1,2]}`)
	f.Add(`{"reserve":[{"in":0,"out":1,"coflow":-1,"not_before_ns":1,"not_after_ns":2}],"wake_ns":5}`)
	f.Fuzz(func(t *testing.T, line string) {
		for _, part := range program.Answering(line) {
			v := policytest.View(3)
			p := policy.Compose(nil, nil, nil, nil).Decide(v, nil)
			part.Fill(v, nil, p)
		}
	})
}
