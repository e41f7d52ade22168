package target

import (
	"strings"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
)

// TestLarge: whatever a Set has much of, it is large.
func TestLarge(t *testing.T) {
	text := strings.Repeat("x", 33<<10)
	path := func(key string) *gpb.Path {
		return &gpb.Path{Elem: []*gpb.PathElem{{Name: "interfaces"}, {Name: "interface",
			Key: map[string]string{"name": key}}}}
	}
	update := func(v *gpb.TypedValue) *gpb.SetRequest {
		return &gpb.SetRequest{Update: []*gpb.Update{{Path: path("Ethernet0"), Val: v}}}
	}
	list := func(n int) *gpb.TypedValue {
		l := &gpb.ScalarArray{}
		for i := range n {
			l.Element = append(l.Element, &gpb.TypedValue{Value: &gpb.TypedValue_UintVal{UintVal: uint64(i)}})
		}
		return &gpb.TypedValue{Value: &gpb.TypedValue_LeaflistVal{LeaflistVal: l}}
	}
	paths := func(n int) *gpb.SetRequest {
		r := &gpb.SetRequest{}
		for range n {
			r.Delete = append(r.Delete, path("Ethernet0"))
		}
		return r
	}
	for _, tt := range []struct {
		name string
		req  *gpb.SetRequest
		want bool
	}{
		{"nothing", &gpb.SetRequest{}, false},
		{"few paths", paths(100), false},
		{"many paths", paths(1000), true},
		{"a short list", update(list(100)), false},
		{"a long list", update(list(10_000)), true},
		{"a long prefix", &gpb.SetRequest{Prefix: path(text)}, true},
		{"a long key", &gpb.SetRequest{Delete: []*gpb.Path{path(text)}}, true},
		{"a long name", &gpb.SetRequest{Delete: []*gpb.Path{{Elem: []*gpb.PathElem{{Name: text}}}}}, true},
		{"a long string", update(&gpb.TypedValue{Value: &gpb.TypedValue_StringVal{StringVal: text}}), true},
		{"long JSON_IETF", update(&gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(text)}}), true},
		{"long JSON", update(&gpb.TypedValue{Value: &gpb.TypedValue_JsonVal{JsonVal: []byte(text)}}), true},
		{"long bytes", update(&gpb.TypedValue{Value: &gpb.TypedValue_BytesVal{BytesVal: []byte(text)}}), true},
	} {
		if got := large(tt.req); got != tt.want {
			t.Errorf("%s: large is %v, want %v", tt.name, got, tt.want)
		}
	}
}
