package interop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// bins is where programs are built, each once.
var bins struct {
	dir              string
	lightloom, gnmic func() (string, error)
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "interop")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	bins.dir = dir
	bins.lightloom = sync.OnceValues(func() (string, error) {
		return build("lightloom", filepath.Join("..", ".."), "build", "./cmd/lightloom")
	})
	bins.gnmic = sync.OnceValues(buildGnmic)
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// buildTime bounds the build, which takes minutes on a cold cache.
const buildTime = 15 * time.Minute

// build has the go command write a program; args are its verb and what it builds.
func build(name, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildTime)
	defer cancel()
	out := filepath.Join(bins.dir, name)
	c := exec.CommandContext(ctx, "go", slices.Insert(slices.Clone(args), 1, "-o", out)...)
	c.Dir, c.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if text, err := c.CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("build %s", name), err, errors.New(string(text)))
	}
	return out, nil
}

func lightloom(t testing.TB) string {
	t.Helper()
	path, err := bins.lightloom()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// head keeps the first of what is written to it.
type head struct{ bytes.Buffer }

// mostOutput is what a program that never ends to complain is heard of.
const mostOutput = 1 << 18

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), mostOutput-h.Len())])
	return len(p), nil
}

// run runs a program to its end and returns what it printed.
func run(t testing.TB, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Env = []string{"HOME=" + bins.dir, "PATH=" + os.Getenv("PATH")}
	var out head
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.String(), err
}
