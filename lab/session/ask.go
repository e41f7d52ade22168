package session

import (
	"encoding/json"
	"errors"
	"fmt"

	"lightloom/lab/console"
	"lightloom/southbound/hint"
)

// ask sends one request to this user's running fabric and returns its answer. An error in the answer is
// returned as one, with its exit status if it has one.
func ask(q request) (reply, error) {
	var r reply
	c, err := dialControl()
	if err != nil {
		return r, err
	}
	defer c.Close()
	if err := sendRequest(c, q); err != nil {
		return r, err
	}
	if err := json.NewDecoder(c).Decode(&r); err != nil {
		return r, fmt.Errorf("ask the fabric: it went down: %w", err)
	}
	return r, refused(r)
}

// refused is the error of an answer, with its exit status if it has one; nil where it has none.
func refused(r reply) error {
	switch {
	case r.Error == "":
		return nil
	case r.Exit != 0:
		return &console.ExitError{Code: r.Exit, Err: wrongAnswer(r)}
	}
	return wrongAnswer(r)
}

func wrongAnswer(r reply) error {
	if r.Hint == "" {
		return errors.New(r.Error)
	}
	return hint.New(r.Error, r.Hint)
}
