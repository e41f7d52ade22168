package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/config"
	"lightloom/southbound/hint"
)

// tree is a program of two commands; it returns the one of jobs.
func tree() (jobs *cobra.Command) {
	root := &cobra.Command{Use: "program"}
	run := &cobra.Command{Use: "run", Run: func(*cobra.Command, []string) {}}
	jobs = &cobra.Command{Use: "jobs", Run: func(*cobra.Command, []string) {}}
	jobs.Flags().Int("seed", 1, "")
	jobs.Flags().Bool("dry", false, "")
	jobs.Flags().Duration("dark", 0, "")
	jobs.Flags().StringArray("input", nil, "")
	run.AddCommand(jobs)
	root.AddCommand(run)
	return jobs
}

func TestApply(t *testing.T) {
	for _, c := range []struct {
		name, file, want string // want: what is set, or after "!" parts of error and hint
		args             []string
	}{
		{"nothing", "", "", nil},
		{"values", "run jobs: {seed: 3, dry: true, dark: 10ms}", "dark=10ms dry=true seed=3", nil},
		{"the command line wins", "run jobs: {seed: 3, dry: true}", "dry=true", []string{"--seed", "7"}},
		{"a list", "run jobs: {input: [a, b]}", "input=a,b", nil},
		{"a list where one is due", "run jobs: {seed: [1, 2]}", "!file:1:", nil},
		{"another command's", "run: {}", "", nil},
		{"an unknown command", "# mine\nrun job: {seed: 3}",
			"!file:2:10: \"run job\"|did you mean run jobs?", nil},
		{"an unknown flag", "run jobs:\n  dry: true\n  sede: 3", "!file:3:9: \"sede\"|did you mean seed?", nil},
		{"nothing like it", "run jobs:\n  zzzzzzzz: 3", "!file:2:13|remove the line", nil},
		{"a bad value", "run jobs:\n  seed: x", "!file:2:", nil},
		{"a map", "run jobs: {seed: {a: 1}}", "!word or a number", nil},
		{"no map", "run jobs: 3", "!file:1:", nil},
		{"no YAML", "run: [", "!file:1:", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			jobs := tree()
			if err := jobs.ParseFlags(c.args); err != nil {
				t.Fatal(err)
			}
			given, err := config.Apply(jobs, path, true)
			if want, bad := strings.CutPrefix(c.want, "!"); bad {
				if err == nil {
					t.Fatalf("it was taken: %v", given)
				}
				said := err.Error() + " " + hint.Of(err)
				for part := range strings.SplitSeq(want, "|") {
					if !strings.Contains(said, part) {
						t.Errorf("no %q in %s", part, said)
					}
				}
				return
			}
			var got []string
			for _, g := range given {
				got = append(got, g.Flag+"="+g.Value)
			}
			if err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	if given, err := config.Apply(tree(), none, false); err != nil ||
		!reflect.DeepEqual(given, []config.Given(nil)) {
		t.Errorf("%v, %v", given, err)
	}
	if _, err := config.Apply(tree(), none, true); err == nil {
		t.Error("a file that was named and is missing is passed over")
	}
}

func FuzzApply(f *testing.F) {
	f.Add("run jobs: {seed: 3, input: [a]}")
	f.Add("a: {b: [1, {c: d}]}")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		jobs := tree()
		if _, err := config.Apply(jobs, path, true); err == nil && jobs.Flags().NFlag() > 4 {
			t.Errorf("%q has set %d flags", text, jobs.Flags().NFlag())
		}
	})
}
