package inventory

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
	"lightloom/southbound/pki"
)

// DataKeyFile holds what agents of one fabric know each other's connections by.
const DataKeyFile = "data.key"

// dataKeyBytes is the length of what agents authenticate their connections by.
const dataKeyBytes = 32

// ReadDataKey reads what agents of one fabric authenticate their connections by.
func ReadDataKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, DataKeyFile)
	st, err := os.Stat(path)
	if err == nil && st.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("others may read %q: chmod 600 it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read data key: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read data key: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != dataKeyBytes {
		return nil, fmt.Errorf("read data key: %q does not hold %d hexadecimal digits", path, 2*dataKeyBytes)
	}
	return key, nil
}

// writeAgentKeys issues an identity to the agent of every host, and the key by which agents know each
// other. It comes with WriteKeys, whose authority signs.
func writeAgentKeys(dir string, f *topo.Fabric, write func(pki.Role, string) error) error {
	var errs []error
	for _, n := range f.HostNode {
		errs = append(errs, write(pki.Agent, f.Topology.Node(n).Name))
	}
	key := make([]byte, dataKeyBytes)
	if _, err := rand.Read(key); err != nil {
		return fmt.Errorf("draw data key: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, DataKeyFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(file, hex.EncodeToString(key))
		err = errors.Join(err, file.Close())
	}
	return errors.Join(append(errs, err)...)
}

// WriteKeys issues the identities that a fabric under n replicas needs: of its switches, the replicas,
// the agent and one client, and with agents also of one agent for every host. Each is a file of its
// own, signed by an authority that is a file beside them.
func WriteKeys(dir, fabric string, n int, agents bool) error {
	spec, err := topo.FromArgument(fabric)
	if err != nil {
		return err
	}
	f, err := topo.New(spec)
	if err != nil {
		return err
	}
	ca, err := pki.New(AuthorityLife)
	if err != nil {
		return err
	}
	var replicas []string
	for i := range n {
		replicas = append(replicas, fmt.Sprintf("controller%d", i))
	}
	if err := IssueKeys(ca, dir, f, replicas, agents); err != nil {
		return err
	}
	return ca.WriteFile(filepath.Join(dir, AuthorityFile))
}

// IssueKeys is WriteKeys with an authority, a fabric and replicas that the caller has.
func IssueKeys(ca *pki.Authority, dir string, f *topo.Fabric, replicas []string, agents bool) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	if _, err := os.Lstat(KeyFile(dir, AgentName)); err == nil {
		return hint.New(fmt.Sprintf("write keys: %q holds keys already", dir),
			"name another directory, or remove that one: "+
				"what it gave access to then refuses the old keys")
	}
	write := func(role pki.Role, name string) error {
		id, err := ca.IssueUntil(time.Now(), KeyLife, role, pki.NameOf(name), loopback()...)
		if err != nil {
			return err
		}
		return id.WriteFile(KeyFile(dir, name))
	}
	errs := []error{write(pki.Agent, AgentName), write(pki.Client, ClientName)}
	for _, id := range replicas {
		errs = append(errs, write(pki.Controller, id))
	}
	for _, node := range f.Topology.Nodes() {
		if node.Role != pathmap.Host {
			errs = append(errs, write(pki.Switch, node.Name))
		}
	}
	if agents {
		errs = append(errs, writeAgentKeys(dir, f, write))
	}
	return errors.Join(errs...)
}

// How long keys on disk are good for, and the authority that issues them.
const (
	KeyLife       = 365 * 24 * time.Hour
	AuthorityLife = 10 * KeyLife
)

// KeyFile is where a directory of keys holds those of a name.
func KeyFile(dir, name string) string { return filepath.Join(dir, pki.NameOf(name)+".pem") }

// KeyPaths is where a party of a directory of keys finds its own, and which of the others' are revoked.
func KeyPaths(dir, name string) pki.Paths {
	file := KeyFile(dir, name)
	return pki.Paths{Files: pki.Files{Cert: file, Key: file, CA: file},
		Revoked: filepath.Join(dir, RevokedFile)}
}

// Files of a directory of keys beside those of its parties.
const (
	AuthorityFile = "authority.pem" // its holder can issue keys for anybody
	RevokedFile   = "revoked.pem"
)

// ClientName is the name in the certificate of the client that keys are issued for at first.
const ClientName = "client"

// ReadKeys reads what WriteKeys wrote for one of them.
func ReadKeys(dir, name string) (pki.Identity, error) { return pki.ReadFile(KeyFile(dir, name)) }

// AgentName is the name in the agent's certificate.
const AgentName = "agent"
