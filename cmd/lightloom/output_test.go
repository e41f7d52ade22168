package main

import (
	"encoding/json"
	"io"
	"testing"

	"lightloom/cmd/lightloom/internal/cli"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"
)

// withoutJSON are the commands that print no result, and why.
func withoutJSON() map[string]string {
	return map[string]string{
		"lightloom up":                    "it runs until Ctrl-C; status has JSON",
		"lightloom training export":       "its result is files",
		"lightloom exec":                  "its output is that of its command",
		"lightloom capture":               "its result is a file",
		"lightloom rerun":                 "its result is a report",
		"lightloom sweep cancel":          "it prints nothing; sweep status has JSON",
		"lightloom schema":                "it prints JSON only",
		"lightloom export slurm":          "its result is a file of Slurm",
		"lightloom export topograph":      "its result is a file of topograph",
		"lightloom slurm up":              "it runs until Ctrl-C; status has JSON",
		"lightloom kube":                  "it runs until Ctrl-C; slice list has JSON",
		"lightloom slurm shell":           "its output is that of its command",
		"lightloom slurm root":            "its result is files",
		"lightloom slurm files":           "its result is files",
		"lightloom slurm agent":           "it runs until Ctrl-C",
		"lightloom man":                   "it writes pages",
		"lightloom docs":                  "it serves until Ctrl-C",
		"lightloom report show":           "it serves until Ctrl-C",
		"lightloom agent run":             "it runs until Ctrl-C",
		"lightloom agent tag":             "it says one line; its exit status is its result",
		"lightloom agent unit":            "it prints a systemd unit",
		"lightloom replica run":           "it runs until Ctrl-C",
		"lightloom replica unit":          "it prints a systemd unit",
		"lightloom controller run":        "it runs until Ctrl-C",
		"lightloom controller keys":       "its result is files",
		"lightloom cluster init":          "its result is files",
		"lightloom cluster join":          "its result is files",
		"lightloom cluster destroy":       "its result is that files are gone",
		"lightloom cluster trust":         "it says one line; status has JSON",
		"lightloom cluster access grant":  "it prints nothing",
		"lightloom cluster access revoke": "it prints nothing",
		"lightloom context add":           "list has JSON",
		"lightloom context remove":        "list has JSON",
		"lightloom context use":           "list has JSON",
		"lightloom cluster add":           "its result is files; members has JSON",
		"lightloom cluster remove":        "members has JSON",
		"lightloom cluster raise-level":   "members has JSON",
		"lightloom cluster backup":        "its result is a file",
		"lightloom cluster restore":       "its result is files",
		"lightloom keys authority":        "its result is files; list has JSON",
		"lightloom keys issue":            "its result is files; list has JSON",
		"lightloom keys renew":            "its result is files; list has JSON",
		"lightloom keys revoke":           "its result is files; list has JSON",
		"lightloom policy check":          "it prints one line",
		"lightloom mininet install":       "its result is a file",
		"lightloom mininet export":        "its result is a file",
		"lightloom switch run":            "it runs until Ctrl-C",
		"lightloom target run":            "it runs until Ctrl-C",
		"lightloom topology convert":      "its result is a topology",
		"lightloom device certify":        "it says one line; its exit status is its result",
		"lightloom device reboot":         "it says one line; its exit status is its result",
		"lightloom device schema":         "it prints JSON only",
		"lightloom device model":          "it prints JSON only",
		"lightloom device watch":          "it prints events until Ctrl-C",
		"lightloom device rules":          "it prints lines that it also reads",
		"lightloom circuit apply":         "it prints its steps as it goes; plan has JSON",
	}
}

// TestJSON: every command has -o json and a schema of it, or is listed with the reason why not.
func TestJSON(t *testing.T) {
	why := withoutJSON()
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, s := range c.Commands() {
			visit(s)
		}
		path := c.CommandPath()
		if !c.IsAvailableCommand() || !c.HasParent() || c.HasAvailableSubCommands() && c.Name() != "status" &&
			c.Name() != "reserve" || c.Name() == "help" || c.Parent().Name() == "completion" {
			return
		}
		if !c.HasExample() && c.Parent().Name() != "status" {
			t.Errorf("%s has no example", path)
		}
		shape, ok := cli.ShapeOf(c)
		switch {
		case ok && why[path] != "":
			t.Errorf("%s has -o json, and is listed as one without: %s", path, why[path])
		case ok:
			checkSchema(t, path, shape)
		case why[path] == "":
			t.Errorf("%s has no -o json: add outputFlag, or a reason to withoutJSON", path)
		}
		delete(why, path)
	}
	visit(newRoot(commandActions(), nil, nil, io.Discard, io.Discard))
	for path := range why {
		t.Errorf("%s is listed, and there is no such command", path)
	}
}

// checkSchema: there is a schema, and what the command writes of a zero value keeps it.
func checkSchema(t *testing.T, path string, shape any) {
	t.Helper()
	s, err := cli.SchemaOf(path, shape)
	if err != nil {
		t.Error(err)
		return
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{})
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	b, err := json.Marshal(shape)
	if err != nil {
		return // a zero value that cannot be written, such as a kind that is none
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(v); err != nil {
		t.Errorf("%s: %s does not keep its schema: %v", path, b, err)
	}
}
