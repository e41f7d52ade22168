package pki

import (
	"crypto/x509"
	"sync"
	"time"
)

// passed remembers for a moment whom a verification has let pass, by connection: a signature costs as
// much as all else of a small call. Another trust begins with another memory.
type passed struct {
	mu sync.Mutex
	of map[**x509.Certificate]pass // by where the connection keeps its peer's certificate
}

type pass struct {
	role Role
	name string
	at   time.Time
}

const (
	passedFor = time.Second
	maxPassed = 1024
)

// find returns who was verified a moment ago on that connection.
func (m *passed) find(certs []*x509.Certificate, now time.Time) (pass, bool) {
	if len(certs) == 0 {
		return pass{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p, known := m.of[&certs[0]]
	age := now.Sub(p.at)
	return p, known && 0 <= age && age < passedFor && !now.After(certs[0].NotAfter)
}

// note remembers a connection's peer. When too many are remembered it begins anew.
func (m *passed) note(certs []*x509.Certificate, p pass) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil || len(m.of) >= maxPassed {
		m.of = map[**x509.Certificate]pass{}
	}
	m.of[&certs[0]] = p
}
