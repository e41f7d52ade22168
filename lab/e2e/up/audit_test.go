package up

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"lightloom/controller/audit"
	"lightloom/emulator/fault"
	"lightloom/lab/console"
	"lightloom/lab/labtest"
	"lightloom/lab/session"
	"lightloom/lab/survey"
)

// startUp keeps a fabric up until the test ends. Arguments are those of keepFabric.
func startUp(t *testing.T, args ...string) {
	t.Helper()
	up := exec.Command("/proc/self/exe", append([]string{upCommand}, args...)...)
	up.Stderr = os.Stderr
	out, err := up.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = up.Process.Signal(os.Interrupt)
		if err := up.Wait(); err != nil {
			t.Errorf("up: %v", err)
		}
	})
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "up: ") {
		t.Fatalf("up says %q, want that it is up", lines.Text())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
}

// TestAuditCabling plants faults in a fabric of real packets, and captures at a port while the audit
// finds them: the file holds what was heard, and the circuits that carried it.
func TestAuditCabling(t *testing.T) {
	if !labtest.Apart(t) {
		return
	}
	shared := labtest.UpNetns(t)
	startUp(t)
	file := filepath.Join(t.TempDir(), "tor0.pcapng")
	ctx, stop := context.WithCancel(t.Context())
	captured := make(chan error, 1)
	r, w := io.Pipe()
	var said bytes.Buffer
	go func() {
		captured <- session.Capture(ctx, session.CaptureOptions{Port: "tor0-4", File: file,
			SnapLen: 256, Stdout: io.Discard,
			Stderr: w})
		w.Close()
	}()
	lines := bufio.NewScanner(io.TeeReader(r, &said))
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "capturing at tor0-4") {
		t.Fatalf("the capture says %q", lines.Text())
	}
	for _, tt := range []struct {
		name  string
		plant [][]string // word, ports and which
		want  []audit.Finding
		fault []string // verb and name of a fibre, as a file of faults has them
	}{
		{"swapped and dead", [][]string{{"swap", "12", "out"}},
			[]audit.Finding{{Kind: audit.Dead, Port: 0, With: -1, Fibre: audit.In},
				{Kind: audit.Swapped, Port: 1, With: 2, Fibre: audit.Out}}, []string{"fail pull:0:in"}},
		{"healed and mended", [][]string{{"pull", "2", "both"}, {"swap", "01", "in"}, {"mend", "", "both"}}, nil,
			[]string{"fail swap:2:1:in", "heal pull:0:in", "heal swap:1:2:in"}},
	} {
		for _, e := range tt.fault {
			verb, name, _ := strings.Cut(e, " ")
			if err := session.Break(t.Context(), session.BreakOptions{Fault: fault.Fault{Kind: fault.Fibre, Name: name},
				Heal:   verb == "heal",
				Stdout: io.Discard}); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range tt.plant {
			var ports []int
			for _, d := range p[1] {
				ports = append(ports, int(d-'0'))
			}
			if err := session.Fibre(t.Context(), session.FibreOptions{Do: p[0], Ports: ports, Which: p[2],
				Stdout: io.Discard}); err != nil {
				t.Fatal(err)
			}
		}
		shared.Measure(t, 4, func() error { // neighbours that have not heard each other within a second are not found
			if err := audited(t, tt.want); err != nil {
				return fmt.Errorf("%s: %w", tt.name, err)
			}
			return nil
		})
	}
	stop()
	for lines.Scan() {
	}
	if err := <-captured; err != nil || !strings.Contains(said.String(), " 0 packets were dropped") {
		t.Errorf("the capture ended with %v: %s", err, &said)
	}
	names, notes := readCapture(t, file)
	for _, want := range []string{"tor1", "tor2", "tor0"} {
		if !names[want] {
			t.Errorf("nothing of %s passed the fibre of tor0: %v", want, names)
		}
	}
	for _, want := range []string{"circuit ocs:1→ocs:0 CONNECTED", "circuit ocs:2→ocs:0 CONNECTED",
		"circuit ocs:2→ocs:0 PENDING_DELETION",
		"port tor0:4 lit", "port tor0:4 dark"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the file does not tell %q: %s", want, notes)
		}
	}
	for _, tt := range []struct{ port, want string }{
		{"tor9-1", "write NAME:PORT"}, {"tor0-77", "tor0 has ports 0 to 4"}, {"tor0", "write tor0:0"},
		{"nonsense", "such as"},
	} {
		err := session.Capture(t.Context(), session.CaptureOptions{Port: tt.port,
			File:    filepath.Join(t.TempDir(), "x"),
			SnapLen: 256,
			Stdout:  io.Discard, Stderr: io.Discard})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("capture at %s: %v, want %q", tt.port, err, tt.want)
		}
	}
	var host bytes.Buffer
	ctx, stop = context.WithTimeout(t.Context(), labtest.Hanging)
	defer stop()
	file = filepath.Join(t.TempDir(), "host.pcapng")
	if err := session.Capture(ctx, session.CaptureOptions{Port: "h1-1", File: file, SnapLen: 65536, Count: 4,
		Stdout: io.Discard,
		Stderr: &host}); err != nil {
		t.Error(err)
	}
	if names, _ := readCapture(t, file); !names["tor1"] || !names["h1-1"] {
		t.Errorf("at host h1-1 passed %v", names)
	}
}

// TestAuditBetweenAnnouncements: a fabric whose switches announce themselves less often than --settle says is audited
// once they have.
func TestAuditBetweenAnnouncements(t *testing.T) {
	if !labtest.Apart(t) {
		return
	}
	shared := labtest.UpNetns(t)
	t.Setenv(speakEnv, "3s")
	startUp(t)
	shared.Measure(t, 4, func() error { return audited(t, nil) })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	said := func(p []byte) (int, error) {
		stop() // one round says enough
		if !strings.Contains(string(p), "round 1: ") || !strings.Contains(string(p), ", then 5s to hear") {
			t.Errorf("the audit says %q", p)
		}
		return len(p), nil
	}
	_ = session.AuditCabling(ctx, session.AuditOptions{Settle: time.Second, Output: console.OutputJSON,
		Stdout: io.Discard, Stderr: writer(said)})
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// audited audits the running fabric, and returns how the findings differ from those wanted.
func audited(t *testing.T, want []audit.Finding) error {
	t.Helper()
	var out bytes.Buffer
	err := session.AuditCabling(t.Context(), session.AuditOptions{Settle: time.Second,
		Output: console.OutputJSON,
		Stdout: &out,
		Stderr: io.Discard})
	var exit *console.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.Err != nil) {
		t.Fatal(err)
	}
	var res survey.Result
	if err := json.Unmarshal(out.Bytes(), &res); err != nil {
		t.Fatalf("%v in %s", err, &out)
	}
	ok := (err != nil) == (len(want) > 0) && len(res.Findings) == len(want) && len(res.Notes) == 0 &&
		len(res.Ports) == 3
	for i, f := range res.Findings {
		ok = ok && f.Kind == want[i].Kind && f.Port == want[i].Port && f.With == want[i].With &&
			f.Fibre == want[i].Fibre
	}
	if !ok {
		return fmt.Errorf("found %+v, want %+v", res, want)
	}
	return nil
}

// readCapture returns who announced itself in a file, and all notes.
func readCapture(t *testing.T, file string) (names map[string]bool, notes string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	opt := pcapgo.DefaultNgReaderOptions
	opt.WantMixedLinkType = true
	r, err := pcapgo.NewNgReader(f, opt)
	if err != nil {
		t.Fatal(err)
	}
	names = map[string]bool{}
	for {
		data, ci, err := r.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return names, notes
		}
		if err != nil {
			t.Fatal(err)
		}
		if ci.InterfaceIndex == 1 {
			notes += fmt.Sprintf("%s\n", data)
			continue
		}
		p := gopacket.NewPacket(data, layers.LayerTypeEthernet, gopacket.Default)
		if l, ok := p.Layer(layers.LayerTypeLinkLayerDiscovery).(*layers.LinkLayerDiscovery); ok {
			names[string(l.ChassisID.ID)] = true
		}
	}
}
