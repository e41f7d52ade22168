package controller_test

import (
	"reflect"
	"testing"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestComplete: what a brief report leaves out is read by Rest. Where Rest is nil or does not know the coflow's rows,
// the coflow has its sizes left. A report that is whole stays.
func TestComplete(t *testing.T) {
	rest := southbound.Remaining{F: 1, Base: []float64{3, 4}, Off: []southbound.OffLoad{{Row: 1, Base: 4}}, Live: 2}
	sizes := southbound.Remaining{F: 1, Base: []float64{10, 20}, Live: 2}
	knows := func(left southbound.Remaining, known bool) func(southbound.CoflowID) (southbound.Remaining, bool) {
		return func(id southbound.CoflowID) (southbound.Remaining, bool) { return left, known && id == 7 }
	}
	for _, c := range []struct {
		name  string
		brief bool
		rest  func(southbound.CoflowID) (southbound.Remaining, bool)
		want  southbound.Remaining
	}{
		{"brief", true, knows(rest, true), rest},
		{"brief, not known", true, knows(southbound.Remaining{}, false), sizes},
		{"brief, of other rows", true, knows(southbound.Remaining{F: 1, Base: []float64{3}}, true), sizes},
		{"brief, Rest is nil", true, nil, sizes},
		{"whole", false, knows(sizes, true), southbound.Remaining{F: 1, Base: []float64{3, 9}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := controller.View{}
			v.Rest = c.rest
			cv := controller.CoflowView{ID: 7, Started: true, Size: []pathmap.Bytes{10, 20}, Tag: make([]southbound.Tag, 2),
				LiveRows: 2, Remaining: southbound.Remaining{F: 1, Base: []float64{3, 9}, Brief: c.brief}}
			if v.Complete(&cv); !reflect.DeepEqual(cv.Remaining, c.want) {
				t.Errorf("is left %+v, want %+v", cv.Remaining, c.want)
			}
		})
	}
}
