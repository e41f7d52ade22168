#!/usr/bin/env bash
# Guess: a pod may be pinned to one of two nodes by one expression of its node affinity, matchFields "metadata.name In
# [a, b]": In takes several values, as it does in matchExpressions.
# Seen:  of fields In and NotIn take one value each. The same expression on a label is fine. Two nodes by name take two
# terms. A field that nodes have but selectors do not know (spec.unschedulable) is no error, and matches no node.
# With:  k8s.io/component-helpers 0.36.3, whose package nodeaffinity is kube-scheduler's, Go 1.26.
set -euo pipefail
command -v go >/dev/null || { echo "needs Go"; exit 77; }

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
cat >go.mod <<'EOF'
module finding

go 1.26.0

require (
	k8s.io/api v0.36.3
	k8s.io/apimachinery v0.36.3
	k8s.io/component-helpers v0.36.3
)
EOF
cat >main.go <<'EOF'
package main

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

func main() {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b", Labels: map[string]string{"name": "b"}}}
	for _, text := range []string{
		`[{"matchExpressions":[{"key":"name","operator":"In","values":["a","b"]}]}]`,
		`[{"matchFields":[{"key":"metadata.name","operator":"In","values":["a","b"]}]}]`,
		`[{"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["a","c"]}]}]`,
		`[{"matchFields":[{"key":"metadata.name","operator":"In","values":["a"]}]},` +
			`{"matchFields":[{"key":"metadata.name","operator":"In","values":["b"]}]}]`,
		`[{"matchFields":[{"key":"spec.unschedulable","operator":"In","values":["false"]}]}]`,
	} {
		var terms []corev1.NodeSelectorTerm
		if err := json.Unmarshal([]byte(text), &terms); err != nil {
			panic(err)
		}
		s, err := nodeaffinity.NewNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: terms})
		if err != nil {
			fmt.Println(text, err)
			continue
		}
		fmt.Println(text, s.Match(node))
	}
}
EOF
go mod tidy >/dev/null 2>&1 || { echo "needs Go's module proxy, for k8s.io/component-helpers v0.36.3"; exit 77; }
got=$(go run .)
echo "$got"
expected='[{"matchExpressions":[{"key":"name","operator":"In","values":["a","b"]}]}] true
[{"matchFields":[{"key":"metadata.name","operator":"In","values":["a","b"]}]}] nodeSelectorTerms[0].matchFields[0].values: Invalid value: ["a","b"]: must have one element
[{"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["a","c"]}]}] nodeSelectorTerms[0].matchFields[0].values: Invalid value: ["a","c"]: must have one element
[{"matchFields":[{"key":"metadata.name","operator":"In","values":["a"]}]},{"matchFields":[{"key":"metadata.name","operator":"In","values":["b"]}]}] true
[{"matchFields":[{"key":"spec.unschedulable","operator":"In","values":["false"]}]}] false'
[ "$got" = "$expected" ] || { echo "CHANGED: it was $expected"; exit 1; }
echo "as found"
