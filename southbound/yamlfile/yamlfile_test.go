package yamlfile

import (
	"errors"
	"strings"
	"testing"
)

type sample struct {
	Name string `yaml:"name"`
	List []struct {
		Port int `yaml:"port"`
	} `yaml:"list"`
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"good", "name: a\nlist:\n  - {port: 1}\n", ""},
		{"empty", "", ""},
		{"unknown key", "name: a\nnames: b\n", "f.yaml:2:1: "},
		{"no number", "list:\n  - {port: many}\n", "f.yaml:2:12: "},
		{"too long", strings.Repeat("#", maxFile+1), "f.yaml: longer than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s sample
			if _, err := Decode("f.yaml", []byte(tt.text), &s); tt.want == "" && err != nil ||
				tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// TestAt: an error stands at the value that keys lead to, or at the last of them that is there.
func TestAt(t *testing.T) {
	var s sample
	f, err := Decode("f.yaml", []byte("name: a\nlist:\n  - port: 7\n"), &s)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		at   Keys
		want string
	}{
		{Keys{"name"}, "f.yaml:1:7: wrong"},
		{Keys{"list", 0, "port"}, "f.yaml:3:11: wrong"},
		{Keys{"list", 0, "speed"}, "f.yaml:3:9: wrong"},
		{Keys{"other"}, "f.yaml: wrong"},
	} {
		if got := f.At(tt.at, errors.New("wrong")).Error(); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.at, got, tt.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("name: a\nlist:\n  - {port: 1}\n")
	f.Fuzz(func(t *testing.T, text string) {
		var s sample
		if file, err := Decode("f.yaml", []byte(text), &s); (err == nil) == (file == nil) {
			t.Fatal(file, err)
		}
	})
}

// broken panics as the library does on some values.
type broken struct{}

func (*broken) UnmarshalYAML([]byte) error { panic("broken") }

func TestPanic(t *testing.T) {
	var into struct{ A broken }
	_, err := Decode("x.yaml", []byte("a: 1\n"), &into)
	if err == nil || !strings.Contains(err.Error(), "x.yaml: it holds") {
		t.Errorf("%v", err)
	}
}
