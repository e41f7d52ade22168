package workload_test

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"lightloom/controller/workload"
	"lightloom/controller/workload/swim"
	"lightloom/southbound/yamlfile"
)

// endless repeats a text after a beginning, n bytes in all.
type endless struct {
	head, unit string
	left       int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	text := e.head
	if e.head = ""; text == "" {
		text = strings.Repeat(e.unit, 1+1000/len(e.unit))
	}
	n := copy(p, text[:min(len(text), e.left)])
	if e.left -= n; n < len(text) && text != e.unit {
		e.head = text[n:]
	}
	return n, nil
}

// readers are what reads files of jobs, each with a sample of its format.
func readers() map[string]struct {
	sample string
	read   func(io.Reader) error
} {
	type reader = struct {
		sample string
		read   func(io.Reader) error
	}
	bounded := func(most int64, read func([]byte) error) func(io.Reader) error {
		return func(r io.Reader) error { // as files are read
			data, err := io.ReadAll(io.LimitReader(r, most+1))
			if err != nil {
				return err
			}
			return read(data)
		}
	}
	return map[string]reader{
		"trace": {"4 1\n7 0 1 0 1 3:4\n", func(r io.Reader) error {
			_, err := workload.ReadTrace(r, "f")
			return err
		}},
		"swim": {"job0\t0\t0\t1\t2\t3\n", func(r io.Reader) error {
			_, err := swim.Read(r, "f")
			return err
		}},
		"attributes": {"id,weight,deadline\n7,1,2\n", func(r io.Reader) error {
			_, err := workload.ReadAttributes(r, "f")
			return err
		}},
		"workflow": {`{"workflow":{"specification":{"tasks":[{"id":"a","inputFiles":["x"]}],"files":[{"id":"x",` +
			`"sizeInBytes":1}]},"execution":{"tasks":[{"id":"a","runtimeInSeconds":1}]}}}`,
			func(r io.Reader) error {
				_, err := workload.ReadWorkflow(r, "f", 8, 1)
				return err
			}},
		"spark": {`{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":1,"Stage Infos":[{"Stage ID":0}],` +
			`"Stage IDs":[0]}` +
			"\n" + `{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task End Reason":{"Reason":"Success"},"Task ` +
			`Info":{"Index":0}}` + "\n",
			func(r io.Reader) error {
				_, err := workload.ReadSpark(r, "f")
				return err
			}},
		"jobs": {"jobs: [{name: a, stages: [{name: m, tasks: 2}]}]\n", bounded(8<<20, func(b []byte) error {
			jobs, err := workload.ReadJobs("f", b)
			for _, j := range jobs {
				err = errors.Join(err, j.Problem)
			}
			return err
		})},
		"yaml": {"a: 1\n", bounded(1<<20, func(b []byte) error {
			var v struct {
				A int `yaml:"a"`
			}
			_, err := yamlfile.Decode("f", b, &v)
			return err
		})},
	}
}

// TestBadInput: whatever a file holds in place of jobs, there is one error that names the file, and little memory is
// taken.
func TestBadInput(t *testing.T) {
	const long = 100 << 20
	for name, r := range readers() {
		if err := r.read(strings.NewReader("\uFEFF" + r.sample)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		half := r.sample[:len(r.sample)/2]
		inputs := map[string]io.Reader{
			"nothing": strings.NewReader(""), "a cut": strings.NewReader(half),
			"a line of a": &endless{unit: "a", left: long}, "a line of 1": &endless{unit: "1", left: long},
			"a line of blanks": &endless{unit: " ", left: long}, "a line of [": &endless{unit: "[", left: long},
			"a line of {a:":     &endless{unit: `{"a":`, left: long},
			"a line in a word":  &endless{head: strings.TrimRight(half, "\n"), unit: "a", left: long},
			"a line of numbers": &endless{head: strings.TrimRight(half, "\n"), unit: "1", left: long},
			"depth of lists":    strings.NewReader("a: " + strings.Repeat("[", 10_000)),
			"depth of objects":  strings.NewReader(strings.Repeat(`{"workflow":`, 10_000)),
			"depth of dashes":   strings.NewReader("a:\n" + strings.Repeat("- ", 10_000)),
			"a name of 64 kB":   strings.NewReader(half + strings.Repeat("n", 1<<16) + "\n"),
			"numbers beyond": strings.NewReader(strings.NewReplacer("0", "1e999", "1",
				strings.Repeat("9", 400), "2",
				"1e999").Replace(r.sample)),
		}
		for other, o := range readers() {
			if other != name {
				inputs["the format "+other] = strings.NewReader(o.sample)
			}
		}
		if name == "yaml" {
			delete(inputs, "nothing") // all keys can be left out
			delete(inputs, "a line of blanks")
			delete(inputs, "a cut")
		}
		for what, in := range inputs {
			t.Run(name+", "+what, func(t *testing.T) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err := r.read(in)
				runtime.ReadMemStats(&after)
				if err == nil || !strings.Contains(err.Error(), "f") || len(err.Error()) > 1000 {
					t.Errorf("%.300v", err)
				}
				if took := after.TotalAlloc - before.TotalAlloc; took > 100<<20 {
					t.Errorf("%d MB are taken", took>>20)
				}
			})
		}
	}
}
