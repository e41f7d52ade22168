#!/usr/bin/env bash
# Guess: when Next has gone past a bucket's last key and has returned nil, Prev returns the last key, as it does after a
#        Seek past it.
# Seen:  it returns the last key but one: at nil the cursor still stands on the last. At the other end likewise, after
#        First and Prev, Next returns the second key.
# With:  bbolt 1.4.3.
set -euo pipefail
modules=(go.etcd.io/bbolt@v1.4.3)

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
	"log"

	"go.etcd.io/bbolt"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	db, err := bbolt.Open("finding.db", 0o600, nil)
	must(err)
	must(db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucket([]byte("log"))
		for _, key := range []string{"1", "2", "3", "4"} {
			must(bucket.Put([]byte(key), nil))
		}
		return err
	}))
	must(db.View(func(tx *bbolt.Tx) error {
		cursor := tx.Bucket([]byte("log")).Cursor()
		show := func(key, _ []byte) { fmt.Printf("%q ", key) }
		cursor.Last()
		show(cursor.Next())
		show(cursor.Prev())
		show(cursor.Seek([]byte("5")))
		show(cursor.Prev())
		cursor.First()
		show(cursor.Prev())
		show(cursor.Next())
		return nil
	}))
	must(db.Close())
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "Last, Next, Prev; Seek past the end, Prev; First, Prev, Next" "$(./finding)" '"" "3" "" "4" "" "2" '
