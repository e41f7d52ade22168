package noise

import (
	"flag"
	"strconv"
)

// Waiting has n parallel tests of a package run at once, where go test takes as many as there are processors. It is for
// tests that mostly wait, and their TestMain calls it before it runs them; -parallel on the command line counts more.
func Waiting(n int) {
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err) // testing has registered the flag
	}
}
