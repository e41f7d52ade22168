#!/usr/bin/env bash
# Guess: a mock clock runs a thousand timers in no time at all.
# Seen:  benbjohnson's sleeps a real millisecond after each timer that it fires: a thousand take more than a second of
#        real time, and a simulation of a million events would take a quarter of an hour. clockwork's does not wait.
# With:  benbjohnson/clock 1.3.5, jonboulle/clockwork 0.5.0.
set -euo pipefail
modules=(github.com/benbjohnson/clock@v1.3.5 github.com/jonboulle/clockwork@v0.5.0)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
go mod init finding 2>/dev/null
go get "${modules[@]}" 2>/dev/null || { echo "needs Go and its module proxy"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

cat >main.go <<'GO'
package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/jonboulle/clockwork"
)

func main() {
	const timers = 1000
	mock, fake := clock.NewMock(), clockwork.NewFakeClock()
	var fired sync.WaitGroup
	measure := func(after func(time.Duration, func()), advance func(time.Duration)) bool {
		fired.Add(timers)
		for i := range timers {
			after(time.Duration(i+1)*time.Microsecond, fired.Done)
		}
		start := time.Now()
		advance(time.Second)
		fired.Wait()
		return time.Since(start) > timers*time.Millisecond
	}
	fmt.Println(
		measure(func(d time.Duration, f func()) { mock.AfterFunc(d, f) }, mock.Add),
		measure(func(d time.Duration, f func()) { fake.AfterFunc(d, f) }, fake.Advance))
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "a thousand timers take over a second, of benbjohnson and of clockwork" "$(./finding)" "true false"
