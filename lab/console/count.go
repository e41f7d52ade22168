package console

import (
	"fmt"
	"strings"
)

// Count writes a number of things, whose name is that of one: "1 policy", "2 policies", "0 switches".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	switch last := len(one) - 1; {
	case strings.HasSuffix(one, "y") && !strings.ContainsAny(one[last-1:last], "aeiou"):
		return fmt.Sprintf("%d %sies", n, one[:last])
	case strings.HasSuffix(one, "s"), strings.HasSuffix(one, "ch"), strings.HasSuffix(one, "x"):
		return fmt.Sprintf("%d %ses", n, one)
	}
	return fmt.Sprintf("%d %ss", n, one)
}
