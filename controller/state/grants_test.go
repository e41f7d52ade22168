package state_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/controller/state"
)

// TestGrants: a name has what it was granted last, on a replica restored from a snapshot too; what
// cannot be granted changes nothing.
func TestGrants(t *testing.T) {
	f := fabric(t)
	s := state.New(f)
	grant := func(name string, a controller.Access) error {
		b, err := state.Encode([]state.Entry{{Kind: state.GrantChanged, At: 1,
			Grant: &controller.Grant{Name: name, Access: a}}})
		if err != nil {
			t.Fatal(err)
		}
		batch, err := state.Decode(b)
		if err != nil {
			return err
		}
		return s.Apply(&batch[0])
	}
	for _, tc := range []struct {
		name   string
		access controller.Access
		want   string // part of the error; "": none
	}{
		{"bob", controller.Tenant, ""}, {"ann", controller.Admin, ""}, {"zoe", controller.Viewer, ""},
		{"ann", controller.Admin, "already so"}, {"ann", controller.Operator, ""},
		{"bob", "", ""}, {"bob", "", "already so"},
		{"", controller.Admin, "name a certificate"}, {strings.Repeat("x", 129), controller.Admin,
			"name a certificate"},
		{"a\nb", controller.Admin, "name a certificate"}, {"eve", "king", "unknown"},
	} {
		before := s.Digest()
		err := grant(tc.name, tc.access)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q %q: %v, want %q", tc.name, tc.access, err, tc.want)
		}
		if err != nil && s.Digest() != before || err == nil && s.Access(tc.name) != tc.access {
			t.Errorf("%q %q: has %q now", tc.name, tc.access, s.Access(tc.name))
		}
	}
	want := []controller.Grant{{Name: "ann", Access: controller.Operator},
		{Name: "zoe", Access: controller.Viewer}}
	b, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again := state.New(f)
	if err := again.Restore(b); err != nil || !slices.Equal(again.Grants(), want) ||
		again.Access("zoe") != controller.Viewer {
		t.Errorf("restored %v, %v", again.Grants(), err)
	}
	for old, bad := range map[string]string{`"zoe"`: `"aaa"`, `"operator"`: `""`, `"viewer"`: `"king"`} {
		if err := again.Restore([]byte(strings.Replace(string(b), old, bad, 1))); err == nil {
			t.Errorf("a snapshot with %s for %s is taken", bad, old)
		}
	}
	for i := len(want); i < controller.MaxGrants; i++ {
		if err := grant(fmt.Sprintf("n%d", i), controller.Viewer); err != nil {
			t.Fatal(err)
		}
	}
	if err := grant("one more", controller.Viewer); err == nil || errors.Is(err, state.ErrStale) {
		t.Errorf("above the bound: %v", err)
	}
	if err := s.Apply(&state.Entry{Kind: state.GrantChanged}); err == nil {
		t.Error("an entry without a grant is taken")
	}
}
