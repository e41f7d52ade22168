package netns

import (
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSpawnRealtime: a child that is to go before other programs does, where that is allowed, and the thread that
// started it does not.
func TestSpawnRealtime(t *testing.T) {
	asked := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		asked <- BecomeRealtime()
	}()
	refused := <-asked
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, realtime := range []bool{false, true} {
		cmd := exec.Command("cat")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := spawn(cmd, realtime); err != nil {
			t.Fatal(err)
		}
		if Realtime() {
			t.Error("the thread that started it goes before other programs")
		}
		got, err := unix.SchedGetAttr(cmd.Process.Pid, 0)
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if is := err == nil && got.Policy == unix.SCHED_RR; is != (realtime && refused == nil) {
			t.Errorf("asked for real time %v: %+v, %v", realtime, got, err)
		}
	}
	if refused != nil {
		t.Skip("no child could go before other programs:", refused)
	}
}
