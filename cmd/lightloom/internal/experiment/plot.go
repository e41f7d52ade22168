package experiment

import (
	"fmt"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// Draw writes each picture as an SVG into a folder, which it makes if it is missing, and returns the files' names.
func Draw(dir string, pictures []Picture) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make plot directory: %w", err)
	}
	var names []string
	for _, p := range pictures {
		d, err := drawing(p)
		if err != nil {
			return names, fmt.Errorf("draw %s: %w", p.Name, err)
		}
		name := filepath.Join(dir, p.Name+".svg")
		if err := d.Save(6.4*vg.Inch, 4.2*vg.Inch, name); err != nil {
			return names, fmt.Errorf("draw %s: %w", p.Name, err)
		}
		names = append(names, name)
	}
	return names, nil
}

func drawing(p Picture) (*plot.Plot, error) {
	d := plot.New()
	d.Title.Text, d.X.Label.Text, d.Y.Label.Text = p.Title, p.X, p.Y
	d.Legend.Top, d.Legend.Left = true, true
	d.Add(plotter.NewGrid())
	for i, l := range p.Lines {
		points := make(plotter.XYs, len(l.X))
		for k := range points {
			points[k] = plotter.XY{X: l.X[k], Y: l.Y[k]}
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", l.Name, err)
		}
		line.Color, line.Dashes = plotutil.Color(i), plotutil.Dashes(i)
		if l.StepFunction {
			line.StepStyle = plotter.PostStep
		}
		d.Add(line)
		d.Legend.Add(l.Name, line)
		if l.Low == nil {
			continue
		}
		bars, err := plotter.NewYErrorBars(whiskers{points, l})
		if err != nil {
			return nil, fmt.Errorf("intervals of %q: %w", l.Name, err)
		}
		bars.Color = plotutil.Color(i)
		d.Add(bars)
	}
	return d, nil
}

// whiskers are a line's points with their intervals.
type whiskers struct {
	plotter.XYs
	line Line
}

func (w whiskers) YError(i int) (low, high float64) {
	return w.line.Y[i] - w.line.Low[i], w.line.High[i] - w.line.Y[i]
}
