package up

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lightloom/lab/labtest"
	"lightloom/southbound"
)

// TestUpGeneral keeps a fat-tree of 30 hosts up, and pings from every host to every other.
func TestUpGeneral(t *testing.T) {
	if !labtest.Apart(t) {
		return
	}
	labtest.UpNetns(t)
	if _, err := exec.LookPath("ping"); err != nil {
		t.Skipf("needs ping: %v", err)
	}
	f := labtest.FabricOf(t, labtest.FatTree30)
	began := time.Now()
	up := exec.Command("/proc/self/exe", upCommand, labtest.FatTree30)
	up.Stderr = os.Stderr
	out, err := up.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	defer up.Process.Kill()
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "up: fattree") {
		t.Fatalf("up says %q, want that it is up", lines.Text())
	}
	t.Logf("30 hosts and %d switches are up after %.1f s", len(f.Topology.Nodes())-f.Hosts(),
		time.Since(began).Seconds())
	for h := range int32(f.Hosts()) {
		own, _ := f.Place(h)
		var script strings.Builder
		for to := range int32(f.Hosts()) {
			rack, i := f.Place(to)
			if (h+to)%2 > 0 && rack != own { // the other half is for its neighbour, behind the same switch
				continue
			}
			fmt.Fprintf(&script, "ping -q -c 1 -W 2 %v >/dev/null || echo h%d-%d\n",
				southbound.Addr(southbound.RackID(rack), i),
				rack, i)
		}
		name := f.Topology.Node(f.HostNode[h]).Name
		got, err := exec.Command("/proc/self/exe", execCommand, name, "sh", "-c",
			script.String()).CombinedOutput()
		if err != nil || len(bytes.TrimSpace(got)) > 0 {
			t.Errorf("%s does not reach %q, %v", name, got, err)
		}
	}
	if err := up.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := up.Wait(); err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}
}
