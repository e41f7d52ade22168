package experiment

import (
	"fmt"
	"os"
	"path/filepath"

	"lightloom/lab/report/plot"
)

// Draw writes each picture as an SVG into a folder, which it makes if it is missing, and returns the
// files' names.
func Draw(dir string, pictures []Picture) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make plot directory: %w", err)
	}
	var names []string
	for _, p := range pictures {
		c := plot.Chart{Title: p.Title, X: p.X, Y: p.Y}
		for _, l := range p.Lines {
			c.Lines = append(c.Lines, plot.Line(l))
		}
		name := filepath.Join(dir, p.Name+".svg")
		if err := os.WriteFile(name, c.SVG(), 0o644); err != nil {
			return names, fmt.Errorf("draw %s: %w", p.Name, err)
		}
		names = append(names, name)
	}
	return names, nil
}
