package kept

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"lightloom/southbound/durable"
)

// Folder is where this user's runs and times of experiments are kept.
func Folder() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "lightloom", "experiments")
}

// File is the path of an experiment's runs in a folder. It depends on all that decides their figures:
// on the program and on the settings.
func File(folder, name string, settings any) (string, error) {
	text, err := json.Marshal(settings)
	if err != nil {
		return "", fmt.Errorf("name kept runs: %w", err)
	}
	sum := sha256.New()
	if err := addProgram(sum); err != nil {
		return "", fmt.Errorf("name kept runs: %w", err)
	}
	_, _ = sum.Write(text) // it never fails
	return filepath.Join(folder, fmt.Sprintf("%s-%x.jsonl", name, sum.Sum(nil)[:8])), nil
}

// addProgram reads this program.
func addProgram(w io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	f, err := os.Open(self)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// pacesFile holds the seconds that a seed took, by what was run.
const pacesFile = "paces.json"

// Estimate is how long so many seeds will take by the last time that this was run.
func Estimate(folder, what string, seeds int) (time.Duration, bool) {
	each, ok := readPaces(folder)[what]
	return time.Duration(each * float64(seeds) * float64(time.Second)), ok && each > 0
}

// Learn remembers how long so many seeds took. A machine that does not keep it goes on without.
func Learn(folder, what string, seeds int, took time.Duration) {
	all := readPaces(folder)
	all[what] = took.Seconds() / float64(max(seeds, 1))
	if b, err := json.Marshal(all); err == nil && os.MkdirAll(folder, 0o755) == nil {
		_ = durable.Replace(filepath.Join(folder, pacesFile), b, false)
	}
}

// readPaces reads what was learnt; nothing where nothing can be read, for it only improves an estimate.
func readPaces(folder string) map[string]float64 {
	all := map[string]float64{}
	b, err := os.ReadFile(filepath.Join(folder, pacesFile))
	if err != nil || json.Unmarshal(b, &all) != nil {
		return map[string]float64{}
	}
	return all
}
