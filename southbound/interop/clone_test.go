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

// repository is where programs come from that no client of a module proxy can build: a commit of it is
// fetched and built as a main module of its own.
type repository struct {
	name, source, commit string
	env                  string // names another clone to fetch from
}

// cloneTime bounds the fetch of one commit.
const cloneTime = 5 * time.Minute

// built returns a program of the repository, built once and kept in the user's cache: by the go command
// with these arguments.
func (r repository) built(program string, args ...string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("build %s: %w", program, err)
	}
	kept := filepath.Join(cache, "lightloom", program+"-"+r.commit[:12])
	if _, err := os.Stat(kept); err == nil {
		return kept, nil
	}
	clone, err := r.clone()
	if err != nil {
		return "", err
	}
	out, err := build(program, clone, args...)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		return "", fmt.Errorf("keep %s: %w", program, err)
	}
	if err := os.Rename(out, kept); err != nil {
		return out, nil // on another file system: it serves this run
	}
	return kept, nil
}

// clone returns a directory with the commit, fetched once a run.
func (r repository) clone() (string, error) {
	dir := filepath.Join(bins.dir, r.name+"-source")
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return dir, nil
	}
	from := r.source
	if s := os.Getenv(r.env); s != "" {
		from = s
	}
	ctx, cancel := context.WithTimeout(context.Background(), cloneTime)
	defer cancel()
	for _, args := range [][]string{{"init", "--quiet", dir},
		{"-C", dir, "fetch", "--quiet", "--depth", "1", from, r.commit},
		{"-C", dir, "-c", "advice.detachedHead=false", "checkout", "--quiet", "--force", r.commit}} {
		c := exec.CommandContext(ctx, "git", args...)
		c.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
		if out, err := c.CombinedOutput(); err != nil {
			return "", errors.Join(fmt.Errorf("get commit %s of %s: git %s: %w", r.commit, from,
				strings.Join(args, " "), err),
				errors.New(string(out)))
		}
	}
	return dir, nil
}

// skip skips a test whose program cannot be had, unless LIGHTLOOM_MUST names the repository.
func (r repository) skip(t testing.TB, err error) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), r.name) {
		t.Fatal(err)
	}
	t.Skipf("%v\nset %s to a clone of %s that holds %s", err, r.env, r.source, r.commit)
}
