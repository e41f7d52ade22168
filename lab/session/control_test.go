package session

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

// TestTaken: a name that is in use by the user's own process is not confused with one that another user
// has taken.
func TestTaken(t *testing.T) {
	name := fmt.Sprintf("@lightloom-test-%d", os.Getpid())
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if err := taken(name, os.Getuid()); !strings.Contains(err.Error(), "another lightloom up of yours") {
		t.Error(err)
	}
	if err := taken(name, os.Getuid()+1); !strings.Contains(err.Error(), "is no lightloom up of yours") {
		t.Error(err)
	}
	if err := taken(name+"-silent", os.Getuid()); !strings.Contains(err.Error(),
		"is no lightloom up of yours") {
		t.Error(err)
	}
}
