package console

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
)

// WriteJSON writes a value as indented JSON, as every command with -o json does.
func WriteJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		_, err = fmt.Fprintln(Raw(w), hideInJSON(string(b)))
	}
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// hideInJSON writes what Line hides as JSON does. All but line breaks is within strings, where
// encoding/json has escaped the rest.
func hideInJSON(s string) string {
	var b strings.Builder
	for _, r := range s {
		if !hidden(r) || r == '\n' {
			b.WriteRune(r)
			continue
		}
		for _, u := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
	}
	return b.String()
}
