package tries

import "testing"

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		long string
		want uint64
	}{{"", 2}, {"1", 10}} {
		t.Setenv("LIGHTLOOM_LONG", tt.long)
		if got := Of[uint64](2, 10); got != tt.want {
			t.Errorf("LIGHTLOOM_LONG=%q: %d cases, want %d", tt.long, got, tt.want)
		}
	}
}
