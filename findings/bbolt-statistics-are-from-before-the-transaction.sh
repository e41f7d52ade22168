#!/usr/bin/env bash
# Guess: Bucket.Stats().KeyN of bbolt counts the keys that the bucket has, those of the running transaction too, as Get
#        and ForEach see them.
# Seen:  it counts pages as they were before the transaction: of 1,000 keys that were just put it counts 0, and of 1,000
#        of which 900 were just deleted all 1,000.
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

func count(bucket *bbolt.Bucket) string {
	keys := 0
	must(bucket.ForEach(func(_, _ []byte) error { keys++; return nil }))
	return fmt.Sprintf("%d by ForEach, %d by KeyN", keys, bucket.Stats().KeyN)
}

func main() {
	db, err := bbolt.Open("finding.db", 0o600, nil)
	must(err)
	must(db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucket([]byte("log"))
		for i := range 1000 {
			must(bucket.Put(fmt.Appendf(nil, "%04d", i), []byte("entry")))
		}
		fmt.Println("put:", count(bucket))
		return err
	}))
	must(db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte("log"))
		fmt.Println("next transaction:", count(bucket))
		for i := range 900 {
			must(bucket.Delete(fmt.Appendf(nil, "%04d", i)))
		}
		fmt.Println("deleted:", count(bucket))
		return nil
	}))
	must(db.Close())
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "keys" "$(./finding)" "put: 1000 by ForEach, 0 by KeyN
next transaction: 1000 by ForEach, 1000 by KeyN
deleted: 100 by ForEach, 1000 by KeyN"
