#!/usr/bin/env bash
# Guess: with a kubeconfig of a server at http:// and a user with a token, as of a proxy on loopback that records what a
# controller asks for, client-go sends the token, or says that it does not.
# Seen:  it reads the file without an error and drops the token, and so a user name with its password: the server sees
#        system:anonymous. At https:// the same file gives both.
# With:  k8s.io/client-go 0.36.3, Go 1.26.
set -euo pipefail
command -v go >/dev/null || { echo "needs Go"; exit 77; }

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
cat >go.mod <<'EOF'
module finding

go 1.26.0

require k8s.io/client-go v0.36.3
EOF
cat >main.go <<'EOF'
package main

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	for _, scheme := range []string{"http", "https"} {
		for _, user := range []string{"{token: secret}", "{username: a, password: b}"} {
			text := "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: '" + scheme +
				"://127.0.0.1:8080'}}]\nusers: [{name: a, user: " + user + "}]\ncontexts: [{name: a, context: " +
				"{cluster: a, user: a}}]\n"
			c, err := clientcmd.RESTConfigFromKubeConfig([]byte(text))
			if err != nil {
				panic(err)
			}
			fmt.Printf("%s %s: token %q, user %q\n", scheme, user, c.BearerToken, c.Username)
		}
	}
}
EOF
go mod tidy >/dev/null 2>&1 || { echo "needs Go's module proxy, for k8s.io/client-go v0.36.3"; exit 77; }
got=$(go run .)
echo "$got"
expected='http {token: secret}: token "", user ""
http {username: a, password: b}: token "", user ""
https {token: secret}: token "secret", user ""
https {username: a, password: b}: token "", user "a"'
[ "$got" = "$expected" ] || { echo "CHANGED: it was $expected"; exit 1; }
echo "as found"
