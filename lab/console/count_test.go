package console

import "testing"

func TestCount(t *testing.T) {
	for _, tc := range []struct {
		n    int
		one  string
		want string
	}{
		{0, "job", "0 jobs"}, {1, "job", "1 job"}, {2, "job", "2 jobs"},
		{1, "policy", "1 policy"}, {3, "policy", "3 policies"}, {2, "key", "2 keys"},
		{1, "switch", "1 switch"}, {2, "switch", "2 switches"}, {2, "default route", "2 default routes"},
	} {
		if got := Count(tc.n, tc.one); got != tc.want {
			t.Errorf("%d %s: %q, want %q", tc.n, tc.one, got, tc.want)
		}
	}
}
