package interop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
		return build("lightloom", filepath.Join("..", ".."), "./cmd/lightloom")
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

func build(name, dir, pkg string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildTime)
	defer cancel()
	out := filepath.Join(bins.dir, name)
	c := exec.CommandContext(ctx, "go", "build", "-o", out, pkg)
	c.Dir, c.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if text, err := c.CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("build %s", pkg), err, errors.New(string(text)))
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

// run runs a program to its end and returns what it printed.
func run(t testing.TB, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Env = []string{"HOME=" + bins.dir, "PATH=" + os.Getenv("PATH")}
	out, err := c.CombinedOutput()
	return string(out), err
}
