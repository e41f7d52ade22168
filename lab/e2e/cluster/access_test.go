package cluster

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/controller/server"
	"lightloom/lab/labtest"
)

// TestAccessCommands: at the socket of a replica its user grants; whom it has granted something may do
// that, from elsewhere, and nothing else; and the audit log of the replica that was asked says so.
func TestAccessCommands(t *testing.T) {
	m := founded(t)
	for _, name := range m.names {
		m.start(name)
	}
	m.submit("first")
	socket := filepath.Join(m.dir, "c1", "state", server.SocketFile)
	c, err := server.ReadReplicaFile(m.config("c1"))
	if err != nil {
		t.Fatal(err)
	}
	m.must("keys", "issue", m.dir, "client", "ann")
	asAnn := []string{"--server", c.API["c1"], "--keys", filepath.Join(m.dir, "ann.pem")}
	if _, err := m.try(append([]string{"cluster", "access", "list"}, asAnn...)...); err == nil ||
		!strings.Contains(err.Error(), "nothing is granted to client/ann") {
		t.Errorf("before anything is granted: %v", err)
	}
	m.must("cluster", "access", "grant", "ann", "operator", "--socket", socket)
	m.must("cluster", "access", "grant", "bob", "tenant", "--socket", socket)
	m.must("cluster", "access", "revoke", "bob", "--socket", socket)
	var all []controller.Grant
	if err := json.Unmarshal([]byte(m.must(append([]string{"cluster", "access", "list", "-o", "json"},
		asAnn...)...)),
		&all); err != nil || !slices.Equal(all, []controller.Grant{{Name: "ann", Access: controller.Operator}}) {
		t.Errorf("granted: %v, %v", all, err)
	}
	if _, err := m.try(append([]string{"cluster", "access", "grant", "ann", "admin"},
		asAnn...)...); err == nil ||
		!strings.Contains(err.Error(), "client/ann is operator") {
		t.Errorf("an operator grants: %v", err)
	}
	log := labtest.Read(t, filepath.Join(m.dir, "c1", "state", "audit.log"))
	for _, want := range []string{`"caller":"local/uid:`, `"what":"ann is \"operator\"","result":"ok"`,
		`"caller":"client/ann","call":"SetAccess","result":"denied"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the audit log has no %s:\n%s", want, log)
		}
	}
	if strings.Contains(log, "PRIVATE") {
		t.Error("the audit log has a key")
	}
}
