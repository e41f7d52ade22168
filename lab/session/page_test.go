package session

import (
	"testing"

	"lightloom/southbound/hint"
)

// TestListenPage: an address that others can reach is a mistake in what the user wrote, an address in use is none.
func TestListenPage(t *testing.T) {
	for _, address := range []string{"0.0.0.0:80", "10.0.0.1:80", ":80", "[::]:80", "here"} {
		if ln, err := ListenPage(address); ln != nil || !hint.IsWrong(err) || hint.Of(err) != "write --page 127.0.0.1:8080" {
			t.Errorf("%s: %v, %v with the hint %q", address, ln, err, hint.Of(err))
		}
	}
	one, err := ListenPage("")
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	if ln, err := ListenPage(one.Addr().String()); ln != nil || err == nil || hint.IsWrong(err) {
		t.Errorf("in use: %v, %v", ln, err)
	}
}
