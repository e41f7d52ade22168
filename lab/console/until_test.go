package console

import (
	"context"
	"errors"
	"testing"
)

// TestUntil: a parser that never ends does not keep a command that was interrupted; one that ends gives what it read.
func TestUntil(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if got, err := Until(ctx, func() (int, error) { return 7, nil }); got != 7 || err != nil {
		t.Fatalf("got %d, %v", got, err)
	}

	never := make(chan struct{})
	defer close(never)
	cancel()
	if _, err := Until(ctx, func() (int, error) { <-never; return 7, nil }); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}
