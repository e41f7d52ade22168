package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"strings"
	"testing"
)

// axe has axe-core 4.14.1 look for what keeps people from using the page as it stands now. That library
// is for tests alone, as it came, with its licence beside it: it is in no binary.
func axe(t *testing.T, ctx context.Context) {
	t.Helper()
	zip, err := os.ReadFile("testdata/axe.min.js.gz")
	must(t, err)
	r, err := gzip.NewReader(bytes.NewReader(zip))
	must(t, err)
	library, err := io.ReadAll(r)
	must(t, err)
	eval[bool](t, ctx, string(library)+";true")
	all := eval[string](t, ctx, `axe.run().then(r => r.violations.map(v => v.id + ": " + v.help + " at " +
		v.nodes.slice(0, 3).map(n => n.target.join(" ") + " (" + n.failureSummary.replace(/\s+/g, " ") + ")").join(", "))
			.join("\n"))`)
	for _, found := range strings.Split(all, "\n") {
		if found != "" {
			t.Error(found)
		}
	}
}
