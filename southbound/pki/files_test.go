package pki

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFiles: an identity whose parts are apart is what it was, for the hosts that it was issued for,
// and is refused where others may read its key or its time is over.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ca := authority(t)
	if err := ca.WriteFile(at("authority.pem")); err != nil {
		t.Fatal(err)
	}
	again, err := ReadAuthority(at("authority.pem"))
	if err != nil {
		t.Fatal(err)
	}
	id, err := again.IssueFor(Controller, "controller0", "192.0.2.1", "ctl0.example.net")
	if err != nil {
		t.Fatal(err)
	}
	f := Files{at("cert.pem"), at("key.pem"), at("ca.pem")}
	if err := f.Write(id); err != nil {
		t.Fatal(err)
	}
	got, err := f.Read()
	if err != nil || got.String() != "controller/controller0" {
		t.Fatal(got, err)
	}
	for _, host := range []string{"controller0", "192.0.2.1", "ctl0.example.net"} {
		if err := got.Check(host, time.Now()); err != nil {
			t.Error(err)
		}
	}
	for _, host := range []string{"192.0.2.2", "localhost", "127.0.0.1"} {
		if err := got.Check(host, time.Now()); err == nil || !strings.Contains(err.Error(), "not for") {
			t.Errorf("%s: %v", host, err)
		}
	}
	if err := got.Check("controller0", time.Now().Add(2*time.Hour)); err == nil ||
		!strings.Contains(err.Error(), "issue another") {
		t.Errorf("after its time: %v", err)
	}
	if err := f.Write(id); err == nil {
		t.Error("files were overwritten")
	}
	if _, err := (Files{f.Cert, f.Cert, f.CA}).Read(); err == nil {
		t.Error("a certificate was taken for a key")
	}
	if err := os.Chmod(f.Key, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("key that others may read: %v", err)
	}
	if err := id.WriteFile(at("all.pem")); err != nil {
		t.Fatal(err)
	}
	all := at("all.pem")
	if got, err := (Files{all, all, all}).Read(); err != nil || got.Name() != "controller0" {
		t.Error(got, err)
	}
	if _, err := again.IssueFor(Controller, "controller0", "no host"); err == nil {
		t.Error("a certificate was issued for no host")
	}
}

func FuzzParseAuthority(f *testing.F) {
	path := filepath.Join(f.TempDir(), "authority.pem")
	if err := authority(f).WriteFile(path); err != nil {
		f.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		if a, err := parseAuthority(text); (err == nil) != (a != nil) {
			t.Error(a, err)
		}
	})
}
