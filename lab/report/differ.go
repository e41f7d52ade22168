package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Differences lists where two JSON files differ, in the order of the first: at most limit lines, and
// the number of all differences.
func Differences(a, b []byte, limit int) ([]string, int, error) {
	var x, y any
	for _, in := range []struct {
		what string
		data []byte
		to   *any
	}{{"first", a, &x}, {"second", b, &y}} {
		d := json.NewDecoder(bytes.NewReader(in.data))
		d.UseNumber() // as they are written
		if err := d.Decode(in.to); err != nil {
			return nil, 0, fmt.Errorf("compare the %s report: %w", in.what, err)
		}
	}
	d := differ{limit: limit}
	d.walk("", x, y)
	return d.lines, d.places, nil
}

type differ struct {
	limit, places int
	lines         []string
}

func (d *differ) say(path string, a, b any) {
	if d.places++; d.places <= d.limit {
		d.lines = append(d.lines, fmt.Sprintf("%s: %s, was %s", path, brief(b), brief(a)))
	}
}

func (d *differ) walk(path string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			d.object(path, x, y)
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			d.list(path, x, y)
			return
		}
	default:
		if a == b {
			return
		}
	}
	d.say(path, a, b)
}

func (d *differ) object(path string, a, b map[string]any) {
	var keys []string
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		at := k
		if path != "" {
			at = path + "." + k
		}
		d.walk(at, a[k], b[k])
	}
}

func (d *differ) list(path string, a, b []any) {
	if len(a) != len(b) {
		d.say(path, fmt.Sprint(len(a), " entries"), fmt.Sprint(len(b), " entries"))
	}
	for i := range min(len(a), len(b)) {
		d.walk(path+"["+strconv.Itoa(i)+"]", a[i], b[i])
	}
}

// brief writes a value in a few words.
func brief(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		if len(v) > 60 {
			v = v[:60] + "…"
		}
		return strconv.Quote(v)
	}
	return fmt.Sprint(v)
}
