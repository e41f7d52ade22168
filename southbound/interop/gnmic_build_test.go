package interop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The release of gnmic whose command line is held against our targets. Its repository is cloned, for its go.mod
// replaces two modules by directories that the module's zip leaves out, and whose published versions are older: no
// client of a module proxy can build this release.
const (
	gnmicTag    = "v0.47.0"
	gnmicCommit = "747b576e8eab3b88a21d540e2a31c8d2183c1a74"
	gnmicSource = "https://github.com/openconfig/gnmic"
)

// gnmicCommand returns the program, built once and kept in the user's cache. Where it cannot be had the test is
// skipped, unless LIGHTLOOM_MUST names "gnmic".
func gnmicCommand(t testing.TB) string {
	t.Helper()
	path, err := bins.gnmic()
	switch {
	case err == nil:
		return path
	case slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "gnmic"):
		t.Fatal(err)
	}
	t.Skipf("%v\nset LIGHTLOOM_GNMIC to a clone of %s that holds %s", err, gnmicSource, gnmicTag)
	return ""
}

// cloneTime bounds the clone of 12 MB.
const cloneTime = 2 * time.Minute

// buildGnmic finds or makes the program. LIGHTLOOM_GNMIC is where to clone from instead.
func buildGnmic() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("build gnmic: %w", err)
	}
	kept := filepath.Join(cache, "lightloom", "gnmic-"+gnmicCommit[:12])
	if _, err := os.Stat(kept); err == nil {
		return kept, nil
	}
	src := filepath.Join(bins.dir, "gnmic-source")
	if err := cloneGnmic(src); err != nil {
		return "", err
	}
	built, err := build("gnmic", src, ".")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		return "", fmt.Errorf("keep gnmic: %w", err)
	}
	if err := os.Rename(built, kept); err != nil {
		return built, nil // on another file system: it serves this run
	}
	return kept, nil
}

func cloneGnmic(dir string) error {
	from := gnmicSource
	if s := os.Getenv("LIGHTLOOM_GNMIC"); s != "" {
		from = s
	}
	ctx, cancel := context.WithTimeout(context.Background(), cloneTime)
	defer cancel()
	git := func(args ...string) (string, error) {
		c := exec.CommandContext(ctx, "git", args...)
		c.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
		out, err := c.CombinedOutput()
		if err != nil {
			return "", errors.Join(fmt.Errorf("git %s of %s: %w", args[0], from, err), errors.New(string(out)))
		}
		return strings.TrimSpace(string(out)), nil
	}
	if _, err := git("clone", "-c", "advice.detachedHead=false", "--quiet", "--depth", "1", "--branch", gnmicTag, from,
		dir); err != nil {
		return err
	}
	head, err := git("-C", dir, "rev-parse", "HEAD")
	if err == nil && head != gnmicCommit {
		err = fmt.Errorf("%s of %s is commit %s, and %s was expected", gnmicTag, from, head, gnmicCommit)
	}
	return err
}
