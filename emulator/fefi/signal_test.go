package fefi

import "testing"

func TestSignal(t *testing.T) {
	for _, lit := range []bool{false, true} {
		b := Signal{lit}.Marshal()
		if len(b) != frameSize {
			t.Errorf("a frame has %d bytes, want %d", len(b), frameSize)
		}
		if got, err := Unmarshal(b); err != nil || got.Lit != lit {
			t.Errorf("%v came back as %v, %v", lit, got, err)
		}
	}
}

func TestForeignFrames(t *testing.T) {
	change := func(i int, v byte) []byte {
		b := Signal{true}.Marshal()
		b[i] = v
		return b
	}
	for name, b := range map[string][]byte{
		"empty":      nil,
		"short":      Signal{true}.Marshal()[:19],
		"type":       change(12, 0x08),
		"magic":      change(14, 'X'),
		"version":    change(18, 2),
		"half light": change(19, 2),
	} {
		if s, err := Unmarshal(b); err == nil || s.Lit {
			t.Errorf("%s: taken as %v", name, s)
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	f.Add(Signal{true}.Marshal())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Unmarshal(b)
		if err != nil {
			return
		}
		if again, err := Unmarshal(s.Marshal()); err != nil || again != s {
			t.Errorf("%v came back as %v, %v", s, again, err)
		}
	})
}
