package pki

import (
	"crypto/tls"
	"testing"
	"testing/synctest"
	"time"
)

// TestPassedForAMoment: who was verified a moment ago passes, also while it is verified anew, but in no
// role that is not allowed, and not after the certificate has ended.
func TestPassedForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const life = 3*passedFor + passedFor/2
		ca, err := New(life)
		if err != nil {
			t.Fatal(err)
		}
		s := Static(issue(t, ca, Switch, "tor0"))
		st := tls.ConnectionState{PeerCertificates: chainOf(issue(t, ca, Client, "ann"))}
		began := time.Now()
		for time.Since(began) < life+passedFor {
			role, name, err := s.Peer(st, Client)
			if alive := !time.Now().After(st.PeerCertificates[0].NotAfter); alive != (err == nil) ||
				alive && (role != Client || name != "ann") {
				t.Fatalf("after %v: %s/%s, %v", time.Since(began), role, name, err)
			}
			if _, _, err := s.Peer(st, Controller); err == nil {
				t.Fatal("a client passes as a controller")
			}
			<-time.After(passedFor / 4)
		}
	})
}

// TestPassedIsBounded: connections that come and go are forgotten.
func TestPassedIsBounded(t *testing.T) {
	ca, err := New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	who := issue(t, ca, Client, "ann")
	var m passed
	for range 3 * maxPassed {
		m.note(chainOf(who), pass{Client, "ann", time.Now()})
	}
	if len(m.of) > maxPassed {
		t.Errorf("%d connections are remembered", len(m.of))
	}
}
