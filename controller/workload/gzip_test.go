package workload

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGzip: a compressed trace is read as the text, and half a one is refused.
func TestGzip(t *testing.T) {
	const text = "2 1\n1 0 1 0 1 1:3\n"
	want, err := ReadTrace(strings.NewReader(text), "t")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTrace(bytes.NewReader(b.Bytes()), "t")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, n := range []int{3, b.Len() - 9} {
		if _, err := ReadTrace(bytes.NewReader(b.Bytes()[:n]), "t"); err == nil {
			t.Errorf("%d of %d bytes are taken", n, b.Len())
		}
	}
}
