package slurm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/emulator/netns/netnstest"
)

// TestFullDisk: a sweep whose disk fills says so and what to do, what it has made is whole and counts, and its reports
// are those of a sweep that had room. It needs no Slurm.
func TestFullDisk(t *testing.T) {
	netnstest.Need(t, netnstest.Userns)
	dir := t.TempDir()
	few := strings.NewReplacer("seeds: 1-20", "seeds: 1-8", "jobs=60", "jobs=10", "[random+ecmp, random+ecmp+sunflow, "+
		"crosslayer, crosslayer+sunflow, joint]", "[random+ecmp, random+ecmp+sunflow]").Replace(study)
	if err := os.WriteFile(filepath.Join(dir, "study.yaml"), []byte(few), 0o600); err != nil {
		t.Fatal(err)
	}
	script := `mkdir full && mount -t tmpfs -o size=120k tmpfs full || exit 77
lightloom sweep study.yaml --results full && exit 78
lightloom sweep status full
mount -o remount,size=50m full
lightloom sweep study.yaml --results full || exit 79
cp -r full/reports reports`
	cmd := exec.Command("unshare", "-rm", "sh", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{
		"no space left on device\nhint: the disk is full: free some space and start the same sweep again",
		"of 32 runs made; no process is at work: lightloom sweep study.yaml --results full goes on",
		"32 runs of 2 replays, 32 to make",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it does not say %q: %s", want, out)
		}
	}
	if strings.Count(string(out), ", 32 to make;") != 1 {
		t.Errorf("what was made before the disk was full does not count: %s", out)
	}
	whole := exec.Command("lightloom", "sweep", "study.yaml", "--results", "whole")
	whole.Dir = dir
	if out, err := whole.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	all, err := filepath.Glob(filepath.Join(dir, "whole/reports/*/report.json"))
	if err != nil || len(all) != 2 {
		t.Fatalf("%q, %v", all, err)
	}
	for _, path := range all {
		a, err1 := os.ReadFile(path)
		b, err2 := os.ReadFile(strings.Replace(path, "/whole/reports/", "/reports/", 1))
		if err1 != nil || err2 != nil || string(a) != string(b) {
			t.Errorf("%s: %v, %v, or they differ", path, err1, err2)
		}
	}
}
