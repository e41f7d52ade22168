package replica

import (
	"bytes"
	"context"
	"testing"
	"time"
)

// BenchmarkAppend is one entry of 1 kB at a time through three replicas over TLS in one process. It
// reports the commit latencies that matter: of what a leader waits for before it acts.
func BenchmarkAppend(b *testing.B) {
	for _, tc := range []struct {
		name   string
		change func(*Config)
	}{
		{"disk", func(*Config) {}},
		{"disk_nosync", func(c *Config) { c.NoSync = true }},
		{"memory", func(c *Config) { c.Dir, c.Memory = "", NewMemory() }},
	} {
		b.Run(tc.name, func(b *testing.B) {
			ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
			defer cancel()
			cfgs, err := realCluster(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			for i := range cfgs {
				tc.change(&cfgs[i])
			}
			nodes, err := startAll(cfgs)
			if err != nil {
				b.Fatal(err)
			}
			lead, err := leading(ctx, nodes)
			if err != nil {
				b.Fatal(err)
			}
			entry := bytes.Repeat([]byte("x"), 1000)
			for b.Loop() {
				if _, err := lead.Append(ctx, entry); err != nil {
					b.Fatal(err)
				}
			}
			s := lead.Stats()
			b.ReportMetric(float64(s.CommitP50.Microseconds()), "p50-µs")
			b.ReportMetric(float64(s.CommitP99.Microseconds()), "p99-µs")
			for _, n := range nodes {
				if err := n.Close(); err != nil {
					b.Error(err)
				}
			}
		})
	}
}
