// Package plot draws charts from plain data: curves over two axes, with intervals. What lies where, ticks, labels and
// colours are the same in files (SVG, PDF) and on the page of a report, whose other pictures use the same axes and the
// same SVG.
package plot

import (
	"os"
	"path/filepath"
)

// Chart is one picture.
type Chart struct {
	Name           string // of its files, without what follows the dot
	Title          string
	X, Y           string // labels with units
	XScale, YScale Scale
	Lines          []Line
}

// Line is one curve.
type Line struct {
	Name         string
	X, Y         []float64
	Low, High    []float64 // by point; nil: no interval
	StepFunction bool      // a distribution
	Note         string    // what an SVG says of the curve under the pointer
}

// WriteFiles draws each chart into a folder, as SVG and as PDF, and returns the paths of the files that it has written.
// It makes the folder if it is missing, but not for no charts.
func WriteFiles(dir string, charts []Chart) (files []string, err error) {
	if len(charts) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for i := range charts {
		c := &charts[i]
		pdf, err := c.PDF()
		if err != nil {
			return files, err
		}
		for _, one := range []struct {
			ending string
			data   []byte
		}{{".svg", c.SVG()}, {".pdf", pdf}} {
			path := filepath.Join(dir, c.Name+one.ending)
			if err := os.WriteFile(path, one.data, 0o644); err != nil {
				return files, err
			}
			files = append(files, path)
		}
	}
	return files, nil
}

// pen draws in one format. Styles are classes of a report's page; coordinates are pixels from the upper left corner.
type pen interface {
	Line(style string, x1, y1, x2, y2 float64)
	// Curve draws through at least one point; the note may be empty.
	Curve(style string, through []Point, note string)
	// Text writes at a point: anchor is start, middle or end.
	Text(style, anchor string, x, y float64, text string)
	// Upwards writes around a point, turned by 90 degrees.
	Upwards(style string, x, y float64, text string)
}

// Point is a place in a picture.
type Point struct{ X, Y float64 }

// frame is where the parts of a chart lie, in pixels.
type frame struct {
	width, height            float64
	left, right, top, bottom float64 // margins
	bare                     bool    // without title, legend and the label of Y, which stand around the picture
}

func file() frame { return frame{width: 640, height: 420, left: 64, right: 16, top: 36, bottom: 48} }

func onPage() frame {
	return frame{width: 560, height: 300, left: 44, right: 14, top: 12, bottom: 40, bare: true}
}

// drawing is a chart that is being drawn.
type drawing struct {
	pen
	frame
	x, y Axis
}

func (c *Chart) draw(to pen, f frame) {
	var xs, ys [][]float64
	for _, l := range c.Lines {
		xs, ys = append(xs, l.X), append(ys, l.Y, l.Low, l.High)
	}
	d := &drawing{to, f, c.XScale.axis(xs...), c.YScale.axis(ys...)}
	d.grid()
	for i := range c.Lines {
		d.curve(CurveStyle(i), &c.Lines[i])
	}
	d.Text("tick", "middle", (f.left+f.width-f.right)/2, f.height-f.bottom+34, c.X)
	if !f.bare {
		d.names(c)
	}
}

func (d *drawing) at(x, y float64) Point {
	return Point{d.left + d.x.Part(x)*(d.width-d.left-d.right),
		d.height - d.bottom - d.y.Part(y)*(d.height-d.top-d.bottom)}
}

func (d *drawing) grid() {
	for _, t := range d.y.Ticks {
		y := d.at(d.x.From, t.At).Y
		d.Line("grid", d.left, y, d.width-d.right, y)
		d.Text("tick", "end", d.left-6, y+4, t.Text)
	}
	for _, t := range d.x.Ticks {
		x := d.at(t.At, d.y.From).X
		d.Line("grid", x, d.top, x, d.height-d.bottom)
		d.Text("tick", "middle", x, d.height-d.bottom+16, t.Text)
	}
}

// curve draws a line; values that are not finite are gaps.
func (d *drawing) curve(style string, l *Line) {
	var part []Point
	end := func() {
		if len(part) > 0 {
			d.Curve(style, part, l.Note)
		}
		part = nil
	}
	for k := range l.X {
		if !finite(l.Y[k]) {
			end()
			continue
		}
		at := d.at(l.X[k], l.Y[k])
		if len(part) > 0 && l.StepFunction {
			part = append(part, Point{at.X, part[len(part)-1].Y})
		}
		part = append(part, at)
	}
	end()
	for k := range l.Low {
		low, high := d.at(l.X[k], l.Low[k]), d.at(l.X[k], l.High[k])
		d.Line(style, low.X-4, low.Y, low.X+4, low.Y)
		d.Line(style, low.X, low.Y, high.X, high.Y)
		d.Line(style, high.X-4, high.Y, high.X+4, high.Y)
	}
}

// names writes the title, the label of Y and the legend.
func (d *drawing) names(c *Chart) {
	d.Text("label", "middle", d.width/2, 22, c.Title)
	d.Upwards("tick", 14, (d.top+d.height-d.bottom)/2, c.Y)
	for i, l := range c.Lines {
		y := d.top + 16*float64(i+1)
		d.Line(CurveStyle(i), d.left+8, y-4, d.left+32, y-4)
		d.Text("label", "start", d.left+38, y, l.Name)
	}
}
