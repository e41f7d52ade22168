package socket

import (
	"net"
	"testing"
)

// TestHold: a process can listen at a held port, stop and listen again; the kernel assigns the port to
// no other listener or outgoing connection.
func TestHold(t *testing.T) {
	at, release, err := Hold()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ln, err := net.Listen("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		served, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		served.Close() // the server's side ends first: its port is in TIME-WAIT when it is listened at again
		c.Close()
		ln.Close()
	}
	for range 500 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if ln.Addr().String() == at.String() {
			t.Fatalf("%v was drawn by another", at)
		}
		defer ln.Close()
	}
	for range 2 {
		if err := release(); err != nil {
			t.Error(err)
		}
	}
}
