package southbound

import (
	"reflect"
	"testing"

	"lightloom/pathmap"
)

// TestCheckEven: rates of an even spread are 0 or more, of hosts that are there.
func TestCheckEven(t *testing.T) {
	a := Addresses{Hosts: 2, Tags: 1}
	rates := func(r ...pathmap.BitsPerSecond) []pathmap.BitsPerSecond { return r }
	for _, tt := range []struct {
		name     string
		from, to []pathmap.BitsPerSecond
		want     string
	}{
		{"none", nil, nil, ""},
		{"of all hosts", rates(0, 1), rates(2, 0), ""},
		{"of fewer", rates(1), nil, ""},
		{"from too many", rates(3, 1, 2), nil, "even spread: 3 rates, from 1 on: rates are 0 or more, of 2 hosts"},
		{"to too many", nil, rates(3, 0, 2), "even spread: 3 rates, from 0 on: rates are 0 or more, of 2 hosts"},
		{"from below zero", rates(1, -1), nil, "even spread: 2 rates, from -1 on: rates are 0 or more, of 2 hosts"},
		{"to below zero", nil, rates(-1), "even spread: 1 rates, from -1 on: rates are 0 or more, of 2 hosts"},
	} {
		r := Rates{Even: EvenSpread{Coflows: []CoflowID{1}, From: tt.from, To: tt.to}}
		got := ""
		if err := r.Check(a); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	fair := Rates{Fair: true, Even: EvenSpread{Coflows: []CoflowID{1}}}
	if fair.Check(a) == nil {
		t.Error("an even spread among fair rates was taken")
	}
}

// TestSpreads: those of an even spread come last, with its rates above zero, and leave Spread alone.
func TestSpreads(t *testing.T) {
	r := Rates{Spread: append(make([]Spread, 0, 8), Spread{Coflow: 7, From: []HostRate{{Host: 1, Rate: 2}}}),
		Even: EvenSpread{Coflows: []CoflowID{3, 9}, From: []pathmap.BitsPerSecond{5, 0, 6},
			To: []pathmap.BitsPerSecond{0, 4}}}
	from, to := []HostRate{{Host: 0, Rate: 5}, {Host: 2, Rate: 6}}, []HostRate{{Host: 1, Rate: 4}}
	want := []Spread{r.Spread[0], {Coflow: 3, From: from, To: to}, {Coflow: 9, From: from, To: to}}
	if got := r.Spreads(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if after := r.Spread[:2][1]; after.Coflow != 0 {
		t.Errorf("what is behind Spread was written to: %+v", after)
	}
	r.Even = EvenSpread{}
	if got := r.Spreads(); !reflect.DeepEqual(got, r.Spread) {
		t.Errorf("without an even spread: %+v, want %+v", got, r.Spread)
	}
}
