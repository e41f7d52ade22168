package socket_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/southbound/socket"
)

// leave makes a socket as a process that is killed leaves it.
func leave(t *testing.T, path string) {
	t.Helper()
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestListen: a socket left by a killed process is replaced, a socket in use is not.
func TestListen(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, path string)
		want    string
	}{
		{"nothing there", func(*testing.T, string) {}, ""},
		{"left by who was killed", leave, ""},
		{"in use", func(t *testing.T, path string) {
			ln, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = ln.Close() })
		}, "address already in use"},
		{"a file", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "address already in use"},
		{"a link to what was left", func(t *testing.T, path string) {
			leave(t, path+"-real")
			if err := os.Symlink(path+"-real", path); err != nil {
				t.Fatal(err)
			}
		}, "address already in use"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s")
			tt.prepare(t, path)
			ln, err := socket.Listen(t.Context(), "unix:"+path)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
					t.Fatalf("%v, want %q", err, tt.want)
				}
				if _, err := os.Lstat(path); err != nil {
					t.Error("it was removed")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			c, err := net.Dial("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
		})
	}
	ln, err := socket.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if _, err := socket.Listen(t.Context(), ln.Addr().String()); err == nil {
		t.Error("a port was taken twice")
	}
}

// TestMark: a marked socket is removed, another of its path is not.
func TestMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if _, err := socket.MarkOf(path); err == nil {
		t.Error("nothing was marked")
	}
	leave(t, path)
	m, err := socket.MarkOf(path)
	if err != nil {
		t.Fatal(err)
	}
	other := m
	other.Changed++ // of the same number, made later
	if err := other.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Fatal("another's socket was removed")
	}
	for range 2 { // the second time there is nothing
		if err := m.Remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Error("the socket is there still")
		}
	}
}
