package inventory

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lightloom/southbound/durable"
	"lightloom/southbound/hint"
	"lightloom/southbound/pki"
)

// Keyring is a directory of keys with the authority that issues them: one file NAME.pem for each party,
// and in a cluster on several machines a directory NAME/etc for each replica.
type Keyring struct {
	dir string
	now time.Time
}

// OpenKeyring returns the keyring in a directory. now is the time at which it issues.
func OpenKeyring(dir string, now time.Time) Keyring { return Keyring{dir, now} }

// Key is what a keyring holds of a party.
type Key struct {
	Name    string    `json:"name"`
	Role    pki.Role  `json:"role"`
	Serial  string    `json:"serial"`
	Until   time.Time `json:"until"`
	State   KeyState  `json:"state"`
	Machine bool      `json:"machine"` // it is in a directory NAME/etc
}

// KeyState is what is to be done about a certificate.
type KeyState string

// The states.
const (
	KeyGood    KeyState = "good"
	KeyDue     KeyState = "renew" // a fifth of its life is left, or less
	KeyEnded   KeyState = "ended"
	KeyRevoked KeyState = "revoked"
)

// etc is where a replica's own files are below a keyring's directory.
const etc = "etc"

// files are where a party's keys are.
func (k Keyring) files(name string) (f pki.Files, machine bool) {
	at := func(file string) string { return filepath.Join(k.dir, name, etc, file) }
	if _, err := os.Stat(at("cert.pem")); err == nil {
		return pki.Files{Cert: at("cert.pem"), Key: at("key.pem"), CA: at("ca.pem")}, true
	}
	file := KeyFile(k.dir, name)
	return pki.Files{Cert: file, Key: file, CA: file}, false
}

// names are the parties whose keys there are.
func (k Keyring) names() (all []string, err error) {
	entries, err := os.ReadDir(k.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name, isPEM := strings.CutSuffix(e.Name(), ".pem")
		_, machine := k.files(e.Name())
		switch {
		case machine:
			all = append(all, e.Name())
		case isPEM && !strings.HasPrefix(name, "authority") && e.Name() != RevokedFile && !e.IsDir():
			all = append(all, name)
		}
	}
	if len(all) == 0 {
		return nil, hint.New(fmt.Sprintf("%q holds no keys", k.dir),
			"name what lightloom controller keys or lightloom cluster init has made")
	}
	return all, nil
}

func (k Keyring) authority() (*pki.Authority, error) {
	a, err := pki.ReadAuthority(filepath.Join(k.dir, AuthorityFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.Wrap(err, "bring the file back from where it is kept, or have whoever issued the keys do it")
	}
	return a, err
}

// List returns all keys, by name.
func (k Keyring) List() (out []Key, err error) {
	names, err := k.names()
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	revoked, err := pki.RevokedSerials(filepath.Join(k.dir, RevokedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	for _, name := range names {
		f, machine := k.files(name)
		id, err := f.Read()
		if err != nil {
			return nil, fmt.Errorf("list keys: %w", err)
		}
		one := Key{Name: name, Role: id.Role(), Serial: id.Serial(), Until: id.NotAfter(),
			State: KeyGood, Machine: machine}
		switch {
		case revoked[id.Serial()]:
			one.State = KeyRevoked
		case k.now.After(id.NotAfter()):
			one.State = KeyEnded
		case id.Due(k.now):
			one.State = KeyDue
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Key) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// Issue makes keys for a new party, in NAME.pem.
func (k Keyring) Issue(role pki.Role, name string, hosts []string, life time.Duration) error {
	a, err := k.authority()
	if err != nil {
		return fmt.Errorf("issue keys: %w", err)
	}
	if len(hosts) == 0 {
		hosts = loopback()
	}
	id, err := a.IssueUntil(k.now, life, role, name, hosts...)
	if err != nil {
		return fmt.Errorf("issue keys: %w", err)
	}
	return id.WriteFile(KeyFile(k.dir, name))
}

// loopback are the hosts of parties whose address is not known, or does not matter.
func loopback() []string { return []string{"localhost", "127.0.0.1", "::1"} }

// Replace makes another authority in the place of the keyring's, whose file it renames to old. All
// parties trust both from then on; their certificates stay. Once all have their new files, Renew.
func (k Keyring) Replace(old string, life time.Duration) error {
	fail := func(err error) error { return fmt.Errorf("replace authority: %w", err) }
	names, err := k.names()
	if err != nil {
		return fail(err)
	}
	a, err := pki.New(life)
	if err != nil {
		return fail(err)
	}
	for _, name := range names {
		f, _ := k.files(name)
		id, err := f.Read()
		if err == nil {
			err = f.Replace(a.Trusting(id))
		}
		if err != nil {
			return fail(err)
		}
	}
	path := filepath.Join(k.dir, AuthorityFile)
	if err := os.Rename(path, filepath.Join(k.dir, old)); err != nil {
		return fail(err)
	}
	return a.WriteFile(path)
}

// Renew puts new keys in the place of those of these parties; of all where none is named. They trust
// the keyring's authority beside those that they trust, or alone.
func (k Keyring) Renew(names []string, life time.Duration, alone bool) (done []Key, err error) {
	fail := func(err error) ([]Key, error) { return done, fmt.Errorf("renew keys: %w", err) }
	a, err := k.authority()
	if err != nil {
		return fail(err)
	}
	if len(names) == 0 {
		if names, err = k.names(); err != nil {
			return fail(err)
		}
	}
	for _, name := range names {
		f, machine := k.files(name)
		old, err := f.Read()
		if err != nil {
			return fail(err)
		}
		id, err := a.Renew(old, k.now, life, alone)
		if err == nil {
			err = f.Replace(id)
		}
		if err != nil {
			return fail(err)
		}
		done = append(done, Key{Name: name, Role: id.Role(), Serial: id.Serial(), Until: id.NotAfter(),
			State:   KeyGood,
			Machine: machine})
	}
	list := filepath.Join(k.dir, RevokedFile)
	if _, err := os.Stat(list); !alone || err != nil {
		return done, nil
	}
	if err := a.Relist(list, k.now); err != nil { // nobody trusts who signed the others
		return fail(err)
	}
	return done, k.spread()
}

// Revoke has the certificates of these parties, or with these serial numbers, refused from now on, by
// all who read RevokedFile: it is put beside each replica's own files too.
func (k Keyring) Revoke(whats []string) error {
	fail := func(err error) error { return fmt.Errorf("revoke keys: %w", err) }
	a, err := k.authority()
	if err != nil {
		return fail(err)
	}
	list := filepath.Join(k.dir, RevokedFile)
	for _, what := range whats {
		serial := what
		f, _ := k.files(what)
		if id, err := f.Read(); err == nil {
			serial = id.Serial()
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fail(err)
		}
		if err := a.Revoke(list, serial, k.now); err != nil {
			return fail(err)
		}
	}
	return k.spread()
}

// spread puts the revocation lists beside each replica's own files.
func (k Keyring) spread() error {
	data, err := os.ReadFile(filepath.Join(k.dir, RevokedFile))
	if err != nil {
		return fmt.Errorf("copy revocation list: %w", err)
	}
	names, err := k.names()
	if err != nil {
		return fmt.Errorf("copy revocation list: %w", err)
	}
	for _, name := range names {
		if f, machine := k.files(name); machine {
			if err := durable.Replace(filepath.Join(filepath.Dir(f.Cert), RevokedFile), data, true); err != nil {
				return fmt.Errorf("copy revocation list: %w", err)
			}
		}
	}
	return nil
}
