package replica

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// errno is the error that a disk returns; 0: it works.
type errno struct{ atomic.Uintptr }

func (e *errno) fault(ops ...string) func(string) error {
	return func(op string) error {
		if no := e.Load(); no != 0 && slices.Contains(ops, op) {
			return syscall.Errno(no)
		}
		return nil
	}
}

// recovers appends through the current leader while nodes have no room, gives the room back, and wants
// all nodes to agree again: a leader without room steps down within 2 s, and takes part again within 5
// s.
func recovers(t *testing.T, nodes []*Node, lead *Node, fill, empty func()) {
	t.Helper()
	ctx := within(t, hanging)
	fill()
	begun := time.Now()
	var err error
	for i := 0; err == nil; i++ {
		_, err = lead.Append(ctx, fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", 1<<10)))
	}
	if !errors.Is(err, ErrDisk) || !errors.Is(err, ErrUncertain) && !errors.Is(err, ErrNotLeader) {
		t.Errorf("append without room: %v", err)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("append without room took %v", took)
	}
	if s := lead.Stats(); !s.DiskFailing || s.DiskFailures == 0 || lead.Disk() == nil {
		t.Errorf("stats of a disk without room: %+v", s)
	}
	if err := lead.Failed(); err != nil {
		t.Fatal(err)
	}
	begun = time.Now()
	if _, err := lead.Append(ctx, []byte("more")); !errors.Is(err, ErrDisk) ||
		time.Since(begun) > time.Second {
		t.Errorf("append after that: %v after %v", err, time.Since(begun))
	}
	empty()
	begun = time.Now()
	_, at, err := appended(ctx, nodes, "after")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if err := n.WaitApplied(ctx, at); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("all took part again after %v", took)
	} else {
		t.Logf("all took part again after %v", took)
	}
	if lead.Disk() != nil {
		t.Errorf("the disk is called sick still: %v", lead.Disk())
	}
	for !sameState(ctx, t, nodes) {
	}
}

// TestFullDisk: the leader's disk, or everyone's, takes nothing for a while, or its fsync fails.
func TestFullDisk(t *testing.T) {
	for _, tc := range []struct {
		name string
		no   syscall.Errno
		ops  []string
		all  bool
	}{
		{"the leader's is full", unix.ENOSPC, []string{"write"}, false},
		{"the leader's fsync fails", unix.EIO, []string{"sync"}, false},
		{"all are full", unix.ENOSPC, []string{"write"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfgs, err := realCluster(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			var disks [3]errno
			for i := range cfgs {
				cfgs[i].fault = disks[i].fault(tc.ops...)
			}
			nodes, err := startAll(cfgs)
			if err != nil {
				t.Fatal(err)
			}
			defer closeAll(t, nodes)
			ctx := within(t, hanging)
			lead, _, err := appended(ctx, nodes, "before")
			if err != nil {
				t.Fatal(err)
			}
			set := func(no syscall.Errno) {
				for i := range disks {
					if tc.all || nodes[i] == lead {
						disks[i].Store(uintptr(no))
					}
				}
			}
			recovers(t, nodes, lead, func() { set(tc.no) }, func() {
				if !tc.all { // the others go on meanwhile
					others := slices.DeleteFunc(slices.Clone(nodes), func(n *Node) bool { return n == lead })
					begun := time.Now()
					if _, _, err := appended(ctx, others, "meanwhile"); err != nil ||
						time.Since(begun) > 2*time.Second {
						t.Errorf("another leads after %v: %v", time.Since(begun), err)
					}
				}
				set(0)
			})
		})
	}
}

// TestFullFollowers: a leader whose followers have no room loses them, steps down and returns an error,
// instead of waiting for them as long as they answer.
func TestFullFollowers(t *testing.T) {
	cfgs, err := realCluster(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var disks [3]errno
	for i := range cfgs {
		cfgs[i].fault = disks[i].fault("write")
	}
	nodes, err := startAll(cfgs)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, nodes)
	ctx := within(t, hanging)
	lead, _, err := appended(ctx, nodes, "before")
	if err != nil {
		t.Fatal(err)
	}
	for i := range disks {
		if nodes[i] != lead {
			disks[i].Store(uintptr(unix.ENOSPC))
		}
	}
	begun := time.Now()
	if _, err := lead.Append(ctx, []byte("meanwhile")); !errors.Is(err, ErrUncertain) ||
		time.Since(begun) > hanging/10 {
		t.Errorf("append while no follower has room: %v after %v", err, time.Since(begun))
	}
	for i := range disks {
		disks[i].Store(0)
	}
	begun = time.Now()
	_, at, err := appended(ctx, nodes, "after")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if err := n.WaitApplied(ctx, at); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("all took part again after %v", time.Since(begun))
}

func closeAll(t *testing.T, nodes []*Node) {
	t.Helper()
	for _, n := range nodes {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A node whose terms cannot be kept waits with it, and can be closed meanwhile.
func TestTermWaitsForDisk(t *testing.T) {
	cfgs, err := realCluster(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var disk errno
	for i := range cfgs {
		cfgs[i].fault = disk.fault("write")
	}
	nodes, err := startAll(cfgs)
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t, hanging)
	lead, _, err := appended(ctx, nodes, "before")
	if err != nil {
		t.Fatal(err)
	}
	disk.Store(uintptr(unix.EIO))
	for _, n := range nodes {
		if n != lead {
			n.store.stable.SetUint64([]byte(keyVote), 99) // notices
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				n.store.stable.SetUint64([]byte(keyTerm), 99)
				t.Error("a term was taken for kept")
			}()
			if err := n.Close(); err != nil {
				t.Error(err)
			}
			<-ended
		}
	}
	if err := lead.Close(); err != nil {
		t.Error(err)
	}
}

const smallDisk = "LIGHTLOOM_TEST_SMALL_DISK"

// TestSmallDisk is TestFullDisk on a file system of six megabytes, which only a process in namespaces
// of its own can mount: the test runs itself again in one.
func TestSmallDisk(t *testing.T) {
	if dir := os.Getenv(smallDisk); dir != "" {
		onSmallDisk(t, dir)
		return
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(within(t, hanging), os.Args[0], "-test.run=^TestSmallDisk$", "-test.v")
	cmd.Env = append(os.Environ(), smallDisk+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
	out, err := cmd.CombinedOutput()
	_, why, cannot := strings.Cut(string(out), cannotMount)
	switch must := slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "netns"); {
	case err != nil && cmd.ProcessState == nil || cannot:
		if must {
			t.Fatalf("LIGHTLOOM_MUST names netns: no namespaces with a file system of their own: %v %s", err, why)
		}
		t.Skipf("no namespaces with a file system of their own: %v %s", err, why)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

const cannotMount = "cannot mount: "

func onSmallDisk(t *testing.T, dir string) {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=6m"); err != nil {
		t.Fatal(cannotMount, err)
	}
	old := segmentBytes
	segmentBytes = 64 << 10
	defer func() { segmentBytes = old }()
	cfgs, err := realCluster(dir)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := startAll(cfgs)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, nodes)
	lead, _, err := appended(within(t, hanging), nodes, "before")
	if err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	recovers(t, nodes, lead, func() {
		f, err := os.Create(ballast)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for b := make([]byte, 64<<10); err == nil; {
			_, err = f.Write(b)
		}
		if !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
	}, func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	})
}
