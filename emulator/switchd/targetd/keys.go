package targetd

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"lightloom/southbound/pki"
)

// The files of a directory of keys.
const (
	serverFile = "server.pem" // certificate, key and authority of the target
	clientFile = "client.pem" // the same of a controller
	caFile     = "ca.pem"     // the authority's certificate
)

// keyLife is how long made keys are good.
const keyLife = 365 * 24 * time.Hour

// Keys returns the target's identity in dir. Where there is none it makes one, and one for a controller
// beside it; made says so.
func Keys(dir, name string) (id pki.Identity, made bool, err error) {
	id, err = pki.ReadFile(filepath.Join(dir, serverFile))
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return id, false, err
	}
	id, err = makeKeys(dir, name)
	if err != nil {
		return pki.Identity{}, false, fmt.Errorf("make keys in %q: %w", dir, err)
	}
	return id, true, nil
}

// KeyPaths is where Keys finds the target's identity, and which controllers are revoked.
func KeyPaths(dir string) pki.Paths {
	file := filepath.Join(dir, serverFile)
	return pki.Paths{Files: pki.Files{Cert: file, Key: file, CA: file},
		Revoked: filepath.Join(dir, "revoked.pem")}
}

func makeKeys(dir, name string) (pki.Identity, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return pki.Identity{}, err
	}
	auth, err := pki.New(keyLife)
	if err != nil {
		return pki.Identity{}, err
	}
	client, err := auth.Issue(pki.Controller, "lightloom")
	if err != nil {
		return pki.Identity{}, err
	}
	server, err := auth.Issue(pki.Switch, name)
	if err != nil {
		return pki.Identity{}, err
	}
	text, err := server.MarshalPEM()
	if err != nil {
		return pki.Identity{}, err
	}
	var ca []byte
	for b, rest := pem.Decode(text); b != nil; b, rest = pem.Decode(rest) {
		ca = pem.EncodeToMemory(b) // the last one
	}
	if err := client.WriteFile(filepath.Join(dir, clientFile)); err != nil {
		return pki.Identity{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, caFile), ca, 0o644); err != nil {
		return pki.Identity{}, err
	}
	return server, server.WriteFile(filepath.Join(dir, serverFile)) // last: its being there says that all are
}
