package interop

import "testing"

// gnmicSource is release v0.47.0, whose command line is held against our targets. Its go.mod replaces
// two modules by directories that the module's zip leaves out, and whose published versions are older:
// no client of a module proxy can build this release.
var gnmicSource = repository{name: "gnmic", source: "https://github.com/openconfig/gnmic",
	commit: "747b576e8eab3b88a21d540e2a31c8d2183c1a74", env: "LIGHTLOOM_GNMIC"}

// gnmicCommand returns the program.
func gnmicCommand(t testing.TB) string {
	t.Helper()
	path, err := bins.gnmic()
	if err != nil {
		gnmicSource.skip(t, err)
	}
	return path
}

func buildGnmic() (string, error) { return gnmicSource.built("gnmic", "build", ".") }
