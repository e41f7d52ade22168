package schema

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// slowJSON is readJSON with encoding/json: the reference implementation. It knows no bound of depth.
func slowJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, malformed("something follows")
	}
	return v, nil
}

// asMaps makes of what readJSON gives what encoding/json does: of two members of one name the last one stands.
func asMaps(v any) any {
	switch x := v.(type) {
	case members:
		out := map[string]any{}
		for _, m := range x {
			out[m.name] = asMaps(m.value)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = asMaps(x[i])
		}
		return out
	}
	return v
}

// compareJSON holds readJSON against its reference implementation.
func compareJSON(t *testing.T, data []byte) {
	t.Helper()
	got, err := readJSON(data)
	want, werr := slowJSON(data)
	if err != nil && strings.Contains(err.Error(), "nests deeper") {
		return
	}
	if (err == nil) != (werr == nil) {
		t.Fatalf("%q: %v, and encoding/json says %v", data, err, werr)
	}
	if err == nil && !reflect.DeepEqual(asMaps(got), want) {
		t.Fatalf("%q: %#v, want %#v", data, asMaps(got), want)
	}
}

func TestReadJSON(t *testing.T) {
	for _, text := range []string{``, ` `, `{}`, `[]`, ` { } `, `[1,2]`, `{"a":1}`, `{"a":1,"a":2}`,
		`{"a":{"b":[true,false,null]}}`, `{"a":1,}`, `[1,]`,
		`{,}`, `{"a"}`, `{"a" 1}`, `{a:1}`, `[1 2]`, `{"a":1 "b":2}`, `{}{}`, `{} x`, `nul`, `nulll`, `truefalse`, `"`, `"a`,
		`"\"`, `"\u00e9"`, `"\ud83d\ude00"`,
		`"\ud83d"`, `"\x"`, `"é"`, "\"\xff\"", "\"a\nb\"", "\"\\\n\"", "\"\\u12\"", `0`, `-0`, `01`, `-`, `1.`, `.5`, `1.5`,
		`1e5`, `1e`, `1E+07`, `1e+`, `+1`, `--1`, `1.5.5`,
		`0x1`, `NaN`, `"\\"`, "\t[\r\n]", "\v[]", `{"":""}`, `[[[[]]]]`, `{"a":"<&>"}`, `{"é":1}`} {
		compareJSON(t, []byte(text))
	}
	if _, err := readJSON([]byte(strings.Repeat("[", 1<<20))); err == nil {
		t.Error("a million brackets were taken")
	}
}

// TestReadJSONMutants: texts of good and of slightly wrong form, many of them.
func TestReadJSONMutants(t *testing.T) {
	const good = `{"sequence-id":5,"config":{"sequence-id":5,"x":[1,-2.5e3,"a\n\u00e9é",true,null]},` +
		`"ipv4":{"config":{"dscp-set":[7,15]}}, "e":[],"o":{} }`
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 7))
		text := []byte(good)
		for range r.IntN(4) {
			switch i := r.IntN(len(text)); r.IntN(3) {
			case 0:
				text[i] = `{}[]",:\0123456789eE+-.tfn u`[r.IntN(27)]
			case 1:
				text = append(text[:i], text[i+1:]...)
			default:
				text = text[:i+1]
			}
			if len(text) == 0 {
				break
			}
		}
		compareJSON(t, text)
	}
}

func FuzzReadJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,"b",{"c":null}],"d":-1.5e3}`))
	f.Add([]byte("\"\\u00e9\xff\""))
	f.Fuzz(compareJSON)
}

// TestAppendJSON: what is written is what encoding/json writes, byte for byte.
func TestAppendJSON(t *testing.T) {
	m := OpenConfig()
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 8))
		var leaves []Leaf
		for range r.IntN(40) {
			name := []string{"Ethernet1", "Ethernet2", `a"b\c`, "<é>", "\x01\u2028"}[r.IntN(5)]
			at := Path{{Name: "interfaces"}}.Entry("interface", "name", name).With("state")
			leaves = append(leaves, []Leaf{{at.With("name"), name}, {at.With("oper-status"), "UP"},
				{at.With("last-change"), r.Uint64()},
				{at.With("counters", "in-octets"), r.Uint64()}}[r.IntN(4)])
		}
		v, err := m.Nest(nil, leaves)
		if err != nil {
			t.Fatal(err)
		}
		got, err := appendJSON(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := slowJSON(got)
		if err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		if want, err := json.Marshal(plain); err != nil || string(want) != string(got) {
			t.Fatalf("%s\nwant\n%s (%v)", got, want, err)
		}
	}
}
