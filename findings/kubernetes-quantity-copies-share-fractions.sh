#!/usr/bin/env bash
# Guess: resource.Quantity is a struct to be passed by value: after total := memory, total.Add leaves memory as it was.
# Seen:  so it does for 2Gi and 1536Mi. Of 1.5Gi a copy shares the number, and Add and Sub change both: a node's memory
#        grows with the sum that began with it. The same number of bytes is AsInt64's (0, false) as 1.5Gi, and not as
#        1536Mi.
# With:  k8s.io/apimachinery 0.36.3.
set -euo pipefail
modules=(k8s.io/apimachinery@v0.36.3)

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

	"k8s.io/apimachinery/pkg/api/resource"
)

func main() {
	for _, text := range []string{"2Gi", "1536Mi", "1.5Gi"} {
		memory := resource.MustParse(text)
		bytes, whole := memory.AsInt64()
		total := memory
		total.Add(resource.MustParse("1Gi"))
		fmt.Println(text, bytes, whole, "total", total.String(), "memory", memory.String())
	}
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "memory as int64, and after 1Gi is added to a copy" "$(./finding)" \
  "2Gi 2147483648 true total 3Gi memory 2Gi
1536Mi 1610612736 true total 2560Mi memory 1536Mi
1.5Gi 0 false total 2560Mi memory 2560Mi"
