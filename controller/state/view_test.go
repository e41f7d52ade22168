package state

import (
	"reflect"
	"testing"
	"time"

	"lightloom/controller"
)

// TestViewWritesAll: a coflow is shown in place of another, of which nothing but what is left stays.
func TestViewWritesAll(t *testing.T) {
	var was, want controller.CoflowView
	for i := range reflect.ValueOf(&was).Elem().NumField() {
		switch f := reflect.ValueOf(&was).Elem().Field(i); f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Float64:
			f.SetFloat(7)
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 7, 7))
		case reflect.Struct: // what is left
		case reflect.Uint8, reflect.Uint64:
			f.SetUint(7)
		default:
			f.SetInt(7)
		}
	}
	c, j := &Coflow{Started: Unset}, &Job{}
	viewCoflow(&was, c, j)
	want.Start, want.Started = Unset, false
	if !reflect.DeepEqual(was, want) {
		t.Errorf("shown %+v, want %+v", was, want)
	}
	j.Arrival, j.Deadline = time.Second, time.Minute
	if viewCoflow(&was, c, j); was.Deadline != time.Second+time.Minute {
		t.Errorf("the deadline is %v", was.Deadline)
	}
}
