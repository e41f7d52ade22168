// Package tries sets how many random cases a test tries: few in a normal run, all of them in .ci/long.
//
// It is for tests only. A count is not a skip: few cases run the same code, and each of them must hold.
package tries

import "os"

// Of returns few, or all where LIGHTLOOM_LONG is set.
func Of[N int | uint64](few, all N) N {
	if os.Getenv("LIGHTLOOM_LONG") != "" {
		return all
	}
	return few
}
