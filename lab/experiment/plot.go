package experiment

import (
	"fmt"
	"os"
	"path/filepath"

	"lightloom/lab/report/plot"
)

// Draw writes each picture as SVG and PDF into a folder, which it makes if it is missing, and returns
// the files' names. Without pictures it makes no folder.
func Draw(dir string, pictures []Picture) ([]string, error) {
	if len(pictures) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make plot directory: %w", err)
	}
	var names []string
	for _, p := range pictures {
		c := plot.Chart{Title: p.Title, X: p.X, Y: p.Y}
		for _, l := range p.Lines {
			c.Lines = append(c.Lines, plot.Line(l))
		}
		files, err := c.WriteFiles(filepath.Join(dir, p.Name))
		names = append(names, files...)
		if err != nil {
			return names, fmt.Errorf("draw %s: %w", p.Name, err)
		}
	}
	return names, nil
}
