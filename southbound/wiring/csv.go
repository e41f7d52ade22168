package wiring

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"lightloom/pathmap/plaintext"
)

// Table is a CSV file and its name in errors. Its first line names the columns; the four of columns are needed, in any
// order, and "Direction" can be one beside others.
type Table struct {
	Name string
	Data []byte
}

// Tables are the CSV files of a lab. Of the tables of ports only the lines whose EndDevice is the switch count, so that
// one table can serve for several switches.
type Tables struct {
	Testbed   string
	Switch    string  // as the tables call it
	FirstPort int     // the number that they give its first port
	Ports     []Table // a device's port, and the port of the switch that it is plugged into
	Links     Table   // two ports of devices
}

// columns are those that a table must have.
func columns() []string { return []string{"StartDevice", "StartPort", "EndDevice", "EndPort"} }

// line is one line of a table: the four columns, what Direction says, and where each column stands.
type line struct {
	cells     [4]string
	direction string
	at        [5]place
}

// ParseTables reads a wiring from CSV files.
func ParseTables(t Tables) (*Wiring, error) {
	var plugs []plug
	for _, table := range t.Ports {
		lines, err := table.lines()
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			if l.cells[2] == t.Switch {
				plugs = append(plugs, plug{l.cells[0], l.cells[1], l.cells[3], l.at[1]})
			}
		}
	}
	p, err := readPanel(plugs, t.FirstPort)
	if err != nil {
		return nil, err
	}
	lines, err := t.Links.lines()
	if err != nil {
		return nil, err
	}
	var wishes []wish
	for _, l := range lines {
		switch l.direction {
		case "", "both", "one":
		default:
			return nil, wrong(l.at[4](fmt.Errorf("direction %q is unknown", l.direction)), "write both or one")
		}
		wishes = append(wishes, wish{from: [2]string(l.cells[:2]), to: [2]string(l.cells[2:]),
			oneWay: l.direction == "one", fromAt: l.at[1], toAt: l.at[3]})
	}
	return p.wire(t.Testbed, t.Switch, wishes)
}

// maxTable bounds a table, in bytes.
const maxTable = 4 << 20

// lines reads a table.
func (t Table) lines() ([]line, error) {
	at := func(row, column int) place {
		return func(err error) error { return fmt.Errorf("read wiring: %s:%d:%d: %w", t.Name, row, column, err) }
	}
	if len(t.Data) > maxTable {
		return nil, wrong(at(1, 1)(fmt.Errorf("longer than %d bytes", maxTable)), "split the table by switch")
	}
	data, err := plaintext.Of(t.Data)
	if err != nil {
		return nil, wrong(at(1, 1)(err), "save it as UTF-8")
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comment, r.TrimLeadingSpace = '#', true
	head, err := r.Read()
	if err != nil {
		return nil, wrong(at(1, 1)(cause(err)), "begin with "+strings.Join(columns(), ","))
	}
	row, _ := r.FieldPos(0)
	places, err := find(head)
	if err != nil {
		return nil, wrong(at(row, 1)(err), "begin with "+strings.Join(columns(), ","))
	}
	var out []line
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			row, column := 1, 1
			var parse *csv.ParseError
			if errors.As(err, &parse) {
				row, column = parse.Line, parse.Column
			}
			return nil, wrong(at(row, column)(cause(err)), "give each line as many fields as the first has")
		}
		out = append(out, lineOf(fields, places, func(i int) place { row, column := r.FieldPos(i); return at(row, column) }))
	}
}

// cause is what encoding/csv finds, without its own words for the place.
func cause(err error) error {
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse):
		return parse.Err
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	}
	return err
}

// find returns where the four columns and Direction stand; -1 for a Direction that is not there.
func find(head []string) (places [5]int, err error) {
	for i, name := range append(columns(), "Direction") {
		places[i] = slices.IndexFunc(head, func(h string) bool { return strings.EqualFold(strings.TrimSpace(h), name) })
		if places[i] < 0 && i < len(columns()) {
			return places, fmt.Errorf("column %s is missing: there are %s", name, strings.Join(head, ", "))
		}
	}
	return places, nil
}

func lineOf(fields []string, places [5]int, at func(field int) place) line {
	var l line
	for i, field := range places {
		if field < 0 {
			continue
		}
		l.at[i] = at(field)
		if text := strings.TrimSpace(fields[field]); i < len(l.cells) {
			l.cells[i] = text
		} else {
			l.direction = strings.ToLower(text)
		}
	}
	return l
}
