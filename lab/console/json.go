package console

import (
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes a value as indented JSON, as every command with -o json does.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
