package cabling_test

import (
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/cabling"
)

// BenchmarkApply is what a replica pays for one moved cable of 512 racks while nothing else is applied.
func BenchmarkApply(b *testing.B) {
	f := fabric(b, "hybrid:racks=512,hosts=16,spines=16")
	c, err := cabling.Next(f, pathmap.Cabling{}, []cabling.Plug{{From: "tor0:16", To: "spine1:600"}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := cabling.Apply(f, c); err != nil {
			b.Fatal(err)
		}
	}
}
