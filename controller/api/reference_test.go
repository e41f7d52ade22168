package api

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	apiv1 "lightloom/controller/api/v1"
)

var update = flag.Bool("update", false, "write docs/api.md anew")

// TestReference: the page of the API says what the code does.
func TestReference(t *testing.T) {
	const page = "../../docs/api.md"
	text, err := os.ReadFile("v1/api.proto")
	if err != nil {
		t.Fatal(err)
	}
	r := reference{said: comments(string(text)), rules: rules()}
	got := r.page()
	if *update {
		if err := os.WriteFile(page, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(page); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the code says (go test ./controller/api -run TestReference -update): %v", page, err)
	}
	for _, name := range r.silent {
		t.Errorf("%s has no comment", name)
	}
}

// TestDocumentedStatuses: the reference has every code, with the HTTP and exit statuses that it has.
func TestDocumentedStatuses(t *testing.T) {
	b, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, errorsOfAPI, _ := strings.Cut(string(b), "### Errors of the API")
	errorsOfAPI, statuses, _ := strings.Cut(errorsOfAPI, "## Exit statuses")
	for _, a := range answers() {
		code := "`" + string(a.code) + "`"
		if ends := fmt.Sprintf("| %d | %d |", a.http, a.exit); !hasRow(errorsOfAPI, code, "", ends) {
			t.Errorf("no row of the errors names %s and ends in %q", code, ends)
		}
		if begins := fmt.Sprintf("| %d", a.exit); !hasRow(statuses, code, begins, "") && !hasRow(statuses, code,
			fmt.Sprintf("| 4, %d", a.exit), "") {
			t.Errorf("no row of the exit statuses begins with %q and names %s", begins, code)
		}
	}
}

func hasRow(table, code, begins, ends string) bool {
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, begins) && strings.HasSuffix(line, ends) && strings.Contains(line, code) {
			return true
		}
	}
	return false
}

// comments returns what api.proto says above each declaration, by the declaration's path.
func comments(text string) map[string]string {
	said, above := map[string]string{}, []string(nil)
	var in []string // messages, enums, services
	block := regexp.MustCompile(`^(?:message|enum|service) (\w+) \{(\})?$`)
	field := regexp.MustCompile(`^(?:rpc )?(?:(?:optional|repeated) )?(?:[\w.]+ )?(\w+)(?:\(| = )`)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		path := func(name string) string { return strings.Join(append(slices.Clone(in), name), ".") }
		if c, ok := strings.CutPrefix(line, "//"); ok {
			above = append(above, strings.TrimSpace(c))
			continue
		}
		if m := block.FindStringSubmatch(line); m != nil {
			said[path(m[1])] = strings.Join(above, " ")
			if m[2] == "" {
				in = append(in, m[1])
			}
		} else if m := field.FindStringSubmatch(line); m != nil {
			said[path(m[1])] = strings.Join(above, " ")
			if strings.HasSuffix(line, "{") {
				in = append(in, m[1])
			}
		} else if line == "}" && len(in) > 0 {
			in = in[:len(in)-1]
		}
		above = nil
	}
	return said
}

// reference writes the page.
type reference struct {
	bytes.Buffer
	said   map[string]string
	rules  map[string]rule
	silent []string
}

const intro = `# The API

Written by ` + "`go test ./controller/api -run TestReference -update`" + `. The messages are those of
` + "`controller/api/v1/api.proto`" + `.

Each replica of a controller serves this API over Connect, gRPC and gRPC-Web, with messages as protobuf or JSON, and
mutual TLS. Any replica takes any call. Clients such as grpcurl learn the calls by reflection. A call in JSON is a POST:

    curl --cacert ca.pem --cert client.pem --key client.pem https://192.0.2.11:7420/lightloom.v1.Controller/GetJob \
      -H 'Content-Type: application/json' -d '{"jobId": 3}'

Calls that change nothing can be made by GET, as the Connect protocol says. What follows is also there for browsers, as
server-sent events that go on after the header Last-Event-ID or the parameter ` + "`after`" + `:

* ` + "`GET " + eventsPath + "`" + `: what Events says;
* ` + "`GET " + jobsPath + "`" + `: what WatchJobs says, as JSON, with the parameters ` + "`user` and `name`" + `.

Only a replica's own pages may call it from a browser, under a name that its certificate is good for. A request is at
most 32 MiB, also unpacked, and its headers 16 KiB.

`

func (r *reference) page() []byte {
	r.WriteString(intro)
	file := apiv1.File_api_proto
	r.calls(file.Services().Get(0))
	r.errors()
	r.WriteString("## Messages\n\nIn JSON names are written like `requestId`, 64-bit numbers are strings, and times are " +
		"as in RFC 3339.\n")
	var all []protoreflect.Descriptor
	for i := range file.Messages().Len() {
		all = append(all, file.Messages().Get(i))
	}
	for i := range file.Enums().Len() {
		all = append(all, file.Enums().Get(i))
	}
	slices.SortFunc(all, func(a, b protoreflect.Descriptor) int {
		return strings.Compare(string(a.Name()), string(b.Name()))
	})
	for _, d := range all {
		r.message(d)
	}
	return r.Bytes()
}

// say returns the comment of a declaration, for a cell of a table.
func (r *reference) say(path string, must bool) string {
	text := r.said[path]
	if text == "" && must {
		r.silent = append(r.silent, path)
	}
	return strings.ReplaceAll(text, "|", "\\|")
}

func (r *reference) calls(s protoreflect.ServiceDescriptor) {
	r.WriteString("## Calls\n\n| call | request, answer | who may | what it does |\n|---|---|---|---|\n")
	for i := range s.Methods().Len() {
		m := s.Methods().Get(i)
		path := fmt.Sprintf("/%s/%s", s.FullName(), m.Name())
		var may []string
		for _, a := range r.rules[path].may {
			may = append(may, string(a))
		}
		stream := ""
		if m.IsStreamingServer() {
			stream = "stream of "
		}
		fmt.Fprintf(r, "| `%s` | %s, %s%s | %s | %s |\n", m.Name(), link(m.Input()), stream, link(m.Output()),
			strings.Join(may, ", "), r.say("Controller."+string(m.Name()), true))
	}
	r.WriteString("\n")
}

func (r *reference) errors() {
	r.WriteString("## Errors\n\nEach error carries an ErrorDetail with its code. Commands end with the exit status.\n\n" +
		"| code | Connect | HTTP | exit status | ask again |\n|---|---|---|---|---|\n")
	for _, a := range answers() {
		again := "no"
		if a.again {
			again = "yes"
		}
		fmt.Fprintf(r, "| `%s` | %v | %d | %d | %s |\n", a.code, a.connect, a.http, a.exit, again)
	}
	r.WriteString("\n")
}

func (r *reference) message(d protoreflect.Descriptor) {
	name := string(d.Name())
	fmt.Fprintf(r, "\n### %s\n\n", name)
	if text := r.say(name, false); text != "" {
		r.WriteString(text + "\n\n")
	}
	switch d := d.(type) {
	case protoreflect.EnumDescriptor:
		r.WriteString("| value | meaning |\n|---|---|\n")
		for i := range d.Values().Len() {
			v := d.Values().Get(i)
			fmt.Fprintf(r, "| `%s` | %s |\n", v.Name(), r.say(name+"."+string(v.Name()), false))
		}
	case protoreflect.MessageDescriptor:
		if d.Fields().Len() == 0 {
			r.WriteString("It is empty.\n")
			return
		}
		r.WriteString("| field | type | meaning |\n|---|---|---|\n")
		for i := range d.Fields().Len() {
			f := d.Fields().Get(i)
			fmt.Fprintf(r, "| `%s` | %s | %s |\n", f.Name(), typeOf(f), r.say(name+"."+string(f.Name()), false))
		}
	}
}

func typeOf(f protoreflect.FieldDescriptor) string {
	text := f.Kind().String()
	switch {
	case f.Message() != nil && f.Message().ParentFile() == f.ParentFile():
		text = link(f.Message())
	case f.Message() != nil:
		text = string(f.Message().Name())
	case f.Enum() != nil:
		text = link(f.Enum())
	}
	switch {
	case f.IsList():
		return "list of " + text
	case f.HasOptionalKeyword():
		return text + ", if known"
	}
	return text
}

func link(d protoreflect.Descriptor) string {
	return fmt.Sprintf("[%s](#%s)", d.Name(), strings.ToLower(string(d.Name())))
}
