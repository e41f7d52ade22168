package inventory

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/southbound/pki"
)

// TestKeyring: keys of a fabric are issued by an authority that is kept; one that is due, ended or
// revoked is listed so, and renewed in its place, also where a replica's parts are apart.
func TestKeyring(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	if err := WriteKeys(dir, "leafspine:racks=2,hosts=1,spines=1,eps=1Gbps", 1, false); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	a, err := pki.ReadAuthority(filepath.Join(dir, AuthorityFile))
	if err != nil {
		t.Fatal(err)
	}
	id, err := a.IssueUntil(now, time.Hour, pki.Controller, "c9", "192.0.2.9")
	if err != nil {
		t.Fatal(err)
	}
	etc := filepath.Join(dir, "c9", "etc")
	machine := pki.Files{Cert: filepath.Join(etc, "cert.pem"), Key: filepath.Join(etc, "key.pem"),
		CA: filepath.Join(etc, "ca.pem")}
	if err := os.MkdirAll(etc, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := machine.Write(id); err != nil {
		t.Fatal(err)
	}
	k := OpenKeyring(dir, now)
	if err := k.Issue(pki.Client, "ann", nil, 30*time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := k.Issue(pki.Client, "ann", nil, time.Hour); err == nil {
		t.Error("keys were overwritten")
	}
	states := func(at time.Time) map[string]KeyState {
		t.Helper()
		all, err := OpenKeyring(dir, at).List()
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]KeyState{}
		for _, one := range all {
			out[one.Name] = one.State
		}
		return out
	}
	check := func(when string, at time.Time, want map[string]KeyState) {
		t.Helper()
		got := states(at)
		for name, s := range want {
			if got[name] != s {
				t.Errorf("%s: %s is %q, not %q (of %v)", when, name, got[name], s, got)
			}
		}
	}
	check("at first", now, map[string]KeyState{"c9": KeyGood, "ann": KeyGood, "controller0": KeyGood,
		"tor0":     KeyGood,
		ClientName: KeyGood, AgentName: KeyGood})
	check("after 50 minutes", now.Add(50*time.Minute), map[string]KeyState{"c9": KeyDue, "ann": KeyGood})
	check("after two hours", now.Add(2*time.Hour), map[string]KeyState{"c9": KeyEnded, "ann": KeyGood})
	if err := errors.Join(k.Revoke([]string{"ann", id.Serial()}), k.Revoke([]string{"ann"})); err != nil {
		t.Fatal(err)
	}
	check("revoked", now, map[string]KeyState{"c9": KeyRevoked, "ann": KeyRevoked, "tor0": KeyGood})
	if _, err := pki.Open(pki.Paths{Files: machine, Revoked: filepath.Join(etc, RevokedFile)}); err != nil {
		t.Errorf("the list beside a replica's files: %v", err)
	}
	if done, err := k.Renew([]string{"c9"}, time.Hour, false); err != nil || len(done) != 1 ||
		!done[0].Machine {
		t.Fatal(done, err)
	}
	if again, err := machine.Read(); err != nil || again.Check("192.0.2.9", now) != nil ||
		again.Serial() == id.Serial() {
		t.Errorf("%v, %v", again, err)
	}
	if done, err := k.Renew(nil, 100*time.Hour, false); err != nil || len(done) != len(states(now)) {
		t.Errorf("%d renewed, %v", len(done), err)
	}
	check("all renewed", now.Add(60*time.Hour),
		map[string]KeyState{"c9": KeyGood, "ann": KeyGood, "tor0": KeyGood})
	for what, err := range map[string]error{"revoke nobody": k.Revoke([]string{"nobody"}),
		"no keyring": func() error { _, err := OpenKeyring(t.TempDir(), now).List(); return err }()} {
		if err == nil || strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
