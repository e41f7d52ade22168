package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestExamples runs the commands at the head of each file of docs/examples in that folder's copy, as its reader would.
func TestExamples(t *testing.T) {
	examples := filepath.Join(repository(t), "docs", "examples")
	says := map[string]string{ // what the commands of a file print, among other things
		"attributes.csv":     "deadlines met",
		"chain.yaml":         "JCT mean",
		"compare.sh":         "byte for byte",
		"devices.yaml":       "ocp",
		"fabric.yaml":        "of it over circuits",
		"faults.txt":         "CCT mean",
		"kubernetes.yaml":    "", // the script of the tasks runs this on a cluster
		"lab.clab.yml":       "nokia_srlinux",
		"loads.yaml":         "JCT mean",
		"mapreduce.yaml":     "JCT mean",
		"mixed-lab.sh":       "", // TestMixedLab runs these
		"mixed-ocs.yaml":     "", // TestMixedLabMended runs this
		"mixed-rack.sh":      "",
		"mixed-rack.yaml":    "",
		"mixed-replace.yaml": "",
		"mixed-switch.sh":    "",
		"mixed.yaml":         "",
		"report.ipynb":       "over circuits",
		"pairs.txt":          "edge0-0 → agg0 → edge0-1",
		"pod1.circuits":      "one Set: 0>1 1>0 2>3",
		"replica.yaml":       "lightloom replica run --config /etc/lightloom/replica.yaml",
		"rotation.schedule":  "reconfigurations",
		"stream.yaml":        "1 of them at the end of their lifetime",
		"colleague.yaml":     "│ ocs    │ t1      │ bob    │",
		"testbed.yaml":       "testbed t0 at ocs: 2 links, 4 circuits",
		"circuits.py":        "keeps the laws",
		"place.py":           "keeps the laws",
		"route.py":           "keeps the laws",
		"share.py":           "keeps the laws",
		"study.yaml":         "", // the script of the tasks runs this: it starts the binary again
		"topology.yaml":      "7 nodes (3 hosts, 3 ToRs, 0 switches, 1 OCS)",
		"tor.rules":          "dst=2 tag=7",
		"trace.txt":          "", // its format has no comments: others use it
	}
	index := read(t, filepath.Join(examples, "README.md"))
	entries, err := os.ReadDir(examples)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "README.md" || e.IsDir() { // TestRunFromGo runs the folder
			continue
		}
		want, ok := says[e.Name()]
		delete(says, e.Name())
		if !ok || !strings.Contains(index, "("+e.Name()+")") {
			t.Errorf("%s is missing in this test or in the index", e.Name())
		}
		text := read(t, filepath.Join(examples, e.Name()))
		if n := strings.Count(text, "\n"); n > 30 {
			t.Errorf("%s has %d lines", e.Name(), n)
		}
		if want == "" {
			continue
		}
		if e.Name() == "report.ipynb" {
			t.Run(e.Name(), func(t *testing.T) { runNotebook(t, examples, text, want) })
			continue
		}
		t.Run(e.Name(), func(t *testing.T) {
			if _, err := exec.LookPath("python3"); err != nil && strings.HasSuffix(e.Name(), ".py") {
				t.Skip("needs python3: ", err)
			}
			if out := runExample(t, examples, exampleCommands(text)); !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		})
	}
	for name := range says {
		t.Errorf("%s is not there", name)
	}
}

// TestRunFromGo runs a copy of docs/examples/run-from-go beside this clone, as its page says.
func TestRunFromGo(t *testing.T) {
	t.Parallel()
	root, dir := repository(t), t.TempDir()
	name := filepath.Join("docs", "examples", "run-from-go")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, name))); err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, args := range [][]string{{"work", "init", ".", root}, {"run", "."}} {
		c := exec.CommandContext(t.Context(), "go", args...)
		c.Dir, c.Env = dir, append(os.Environ(), "GOWORK=")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
		said = string(out)
	}
	for _, policy := range []string{"random+ecmp", "crosslayer+sunflow", "in order+ecmp"} {
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(policy) + ` +mean CCT 0\.\d*[1-9]\d* s$`).MatchString(said) {
			t.Errorf("no %s in\n%s", policy, said)
		}
	}
}

// runNotebook runs the commands that a notebook's text names, then its cells in order, as Jupyter would. The figure is
// drawn where there is matplotlib; the cells before it need nothing but Python.
func runNotebook(t *testing.T, examples, text, want string) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3: ", err)
	}
	var book struct {
		Cells []struct {
			Kind   string   `json:"cell_type"`
			Source []string `json:"source"`
		} `json:"cells"`
	}
	if err := json.Unmarshal([]byte(text), &book); err != nil {
		t.Fatal(err)
	}
	var words, cells strings.Builder
	for _, c := range book.Cells {
		if c.Kind == "code" {
			cells.WriteString(strings.Join(c.Source, "") + "\n")
			continue
		}
		words.WriteString(strings.Join(c.Source, "") + "\n")
	}
	runExample(t, examples, exampleCommands(words.String()))
	c := exec.CommandContext(t.Context(), python, "-c", cells.String())
	c.Env = append(os.Environ(), "MPLBACKEND=Agg")
	if out, err := c.CombinedOutput(); err != nil || strings.Count(string(out), want) != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

// exampleCommands are the lightloom lines of a script, or of the comment at the head of a file; "  #" ends a command.
func exampleCommands(text string) (all [][]string) {
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
		line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "# $ "), "  #")
		if command, ok := strings.CutPrefix(line, "lightloom "); ok {
			all = append(all, strings.Fields(command))
		}
	}
	return all
}

// runExample runs commands in a copy of the folder and returns what they print. A target gets a port of its own.
func runExample(t *testing.T, examples string, commands [][]string) string {
	if len(commands) == 0 {
		t.Fatal("no command at its head")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(examples)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	const listen = "127.0.0.1:9339"
	addr := listen
	var out bytes.Buffer
	for _, args := range commands {
		if args[0] == "target" && args[1] == "run" {
			addr = startTarget(t, args[2:]...)
			devices := strings.ReplaceAll(read(t, "devices.yaml"), listen, addr)
			if err := os.WriteFile("devices.yaml", []byte(devices), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], listen, addr)
		}
		if err := run(t.Context(), args, strings.NewReader(""), &out, io.Discard); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out.String())
		}
	}
	return out.String()
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
