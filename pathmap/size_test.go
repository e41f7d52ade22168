package pathmap

import "testing"

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"0B": 0, "100B": 100, "1kB": 1000, "1KB": 1000, "1.5MB": 1_500_000, "10GB": 1e10, "2TB": 2e12, "1KiB": 1024,
		"3MiB":                 3 << 20,
		"9223372036854775807B": 1<<63 - 1,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "B", "10", "-1B", "+1B", "1.5B", "1e3B", "0x10B",
		"9223372036854775808B", "10 MB",
		".5MB", "1Mb"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}
