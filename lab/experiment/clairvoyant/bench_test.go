package clairvoyant

import "testing"

// BenchmarkRuns is a run of joint and one of a plan; the search's budget follows from their ratio.
func BenchmarkRuns(b *testing.B) {
	for _, ground := range grounds() {
		a, c := tinyArena(b, ground, 60, 1)
		own, err := a.run(b.Context(), a.spec, someCircuits, c.Joint)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(ground+"/joint", func(b *testing.B) {
			for b.Loop() {
				if _, err := a.run(b.Context(), a.spec, someCircuits, c.Joint); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(ground+"/plan", func(b *testing.B) {
			for b.Loop() {
				if _, err := a.follow(b.Context(), own.plan); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
