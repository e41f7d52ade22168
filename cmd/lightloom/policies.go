package main

import (
	"fmt"
	"strings"

	"lightloom/controller/policy"
)

// policyHelp lists the policies that users meet first, for -h.
func policyHelp() string {
	var b strings.Builder
	b.WriteString("Policies:\n")
	for _, p := range policy.All() {
		fmt.Fprintf(&b, "  %-22s %s\n", p.Name, p.Doc)
	}
	fmt.Fprintf(&b, "Any + list of parts is a policy too, such as packed+ecmp+sunflow+sebf.\n"+
		"lightloom policies lists all %d parts.", len(policy.Parts()))
	return b.String()
}
