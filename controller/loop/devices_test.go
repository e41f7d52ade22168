package loop

import (
	"errors"
	"reflect"
	"testing"

	"lightloom/southbound"
)

// TestAnswered: the answer to the very Set that a device is waited for with is awaited, once; one to
// another Set is not, but if that failed, nothing is known of what the device holds.
func TestAnswered(t *testing.T) {
	held := []southbound.Rule{{Primary: 1}}
	lost := errors.New("lost")
	asked := repair{token: 7, told: true, behind: held}
	for _, tc := range []struct {
		name    string
		unread  *repair // of the device; nil: it holds what it should
		done    SetDone
		awaited bool
		left    *repair
	}{
		{"the Set", &asked, SetDone{Token: 7}, true, &repair{told: true, behind: held}},
		{"the Set, which failed", &asked, SetDone{Token: 7, Err: lost}, true, &repair{}},
		{"another Set", &asked, SetDone{Token: 8}, false, &asked},
		{"another Set, which failed", &asked, SetDone{Token: 8, Err: lost}, false, &repair{token: 7}},
		{"a Set of a device that is known", nil, SetDone{Token: 7}, false, nil},
		{"one that failed", nil, SetDone{Token: 7, Err: lost}, false, nil},
		{"one without a token", nil, SetDone{}, false, nil},
	} {
		d := newDevices()
		tc.done.Device = 3
		if tc.unread != nil {
			d.unread[3] = *tc.unread
		}
		before, awaited := d.answered(&tc.done)
		if awaited != tc.awaited {
			t.Errorf("%s: awaited %v", tc.name, awaited)
		}
		if awaited && tc.done.Err == nil && !reflect.DeepEqual(before.behind, held) {
			t.Errorf("%s: before it %+v", tc.name, before)
		}
		left, unread := d.unread[3]
		if unread != (tc.left != nil) || unread && !reflect.DeepEqual(left, *tc.left) {
			t.Errorf("%s: %+v is left, want %+v", tc.name, left, tc.left)
		}
	}
}
