package topo

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestVCPUs(t *testing.T) {
	for _, c := range []struct {
		spec string
		want []int32 // of the first hosts
		err  string
	}{
		{"leafspine:racks=2,hosts=2,slots=4", []int32{4, 4, 4, 4}, ""},
		{"leafspine:racks=2,hosts=2,slots=4,vcpus=16/1/3", []int32{16, 1, 3, 16}, ""},
		{"fattree:k=4,vcpus=8", []int32{8, 8}, ""},
		{"hybrid:vcpus=1.5", nil, `vcpus: "1.5" is no whole number from 1 to 4096`},
		{"hybrid:vcpus=4/", nil, `vcpus: "" is no whole number`},
		{"hybrid:vcpus=9999", nil, `vcpus: "9999" is no whole number`},
	} {
		s, err := ParseSpec(c.spec)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", c.spec, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseSpec(s.String()); err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("%s is written %s and read as %v, %v", c.spec, s, again, err)
		}
		f, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		var got []int32
		for h := range c.want {
			got = append(got, f.VCPUs(h))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.spec, got, c.want)
		}
	}
}

// TestPod: k=4 has four pods of two racks; what has no pods is one.
func TestPod(t *testing.T) {
	for spec, want := range map[string][]int{"fattree:k=4": {0, 0, 1, 1, 2, 2, 3, 3},
		"leafspine:racks=3": {0, 0, 0}} {
		s, err := ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		f, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		for r, pod := range want {
			if f.Pod(r) != pod {
				t.Errorf("%s: rack %d is in pod %d, want %d", spec, r, f.Pod(r), pod)
			}
		}
	}
}
