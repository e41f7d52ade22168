package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lightloom/southbound/hint"
)

// Exported is what an export wrote.
type Exported struct {
	Dir    string          `json:"dir"`
	Tables []ExportedTable `json:"tables"`
	// Figures are the files of figures, where these were asked for in place of tables.
	Figures []string `json:"figures,omitempty"`
}

// ExportedTable is one file.
type ExportedTable struct {
	File    string   `json:"file"`
	Rows    int      `json:"rows"`
	Columns []string `json:"columns"`
}

// sheet is a table in the making: the columns are those of all rows, in the order in which they appear.
type sheet struct {
	name    string
	columns []string
	rows    []map[string]string
}

func (s *sheet) add(row []field) {
	m := make(map[string]string, len(row))
	for _, p := range row {
		if !slices.Contains(s.columns, p.key) {
			s.columns = append(s.columns, p.key)
		}
		m[p.key] = p.value
	}
	s.rows = append(s.rows, m)
}

type field struct{ key, value string }

// Export writes all that a report holds as tables to a folder: the report's path, and the folder, or "" for csv beside
// the report. Each list of the report becomes a table, single figures are columns of policies.csv or lines of
// report.csv. Every row of runs, policies, jobs, coflows, circuits, ports, links and instants names the seed and
// policy, and the job, coflow, port or link that it is of. Columns are named as in the tables beside the report.
// Circuits are read from the circuits.csv beside it; ports.csv and series.csv are reckoned from them.
func Export(path, dir string) (*Exported, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, reportFile)
	}
	r, err := Read(path)
	if err != nil {
		return nil, hint.Wrong(err)
	}
	circuits, links, err := Tables(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	whole, err := r.JSON()
	if err != nil {
		return nil, err
	}
	x := &exporter{}
	if err := x.report(whole); err != nil {
		return nil, fmt.Errorf("export report %q: %w", path, err)
	}
	x.circuits(r, circuits)
	x.copied("links", linkColumns(), links)
	if dir == "" {
		dir = filepath.Join(filepath.Dir(path), "csv")
	}
	return x.write(dir)
}

type exporter struct {
	sheets  []*sheet
	seed    string   // of the run that the report shows
	coflows []string // ids, in the order of every list of coflows
}

func (x *exporter) sheet(name string) *sheet {
	for _, s := range x.sheets {
		if s.name == name {
			return s
		}
	}
	s := &sheet{name: name}
	x.sheets = append(x.sheets, s)
	return s
}

// report takes a report.json apart. Its figures stay as they are written there.
func (x *exporter) report(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := ordered(d)
	if err != nil {
		return err
	}
	whole, ok := v.(object)
	if !ok {
		return errors.New("it is no JSON object")
	}
	x.seed = whole.text("seed")
	s := x.sheet("report")
	for _, p := range x.flatten("", "", whole, nil) {
		s.add([]field{{"key", p.key}, {"value", p.value}})
	}
	return nil
}

// flatten returns an object's single values, those of objects in it too, and makes a table of each list, whose name
// begins with that of its own table. The rows of a list in a list name the one that they are in.
func (x *exporter) flatten(table, prefix string, o object, within []field) (row []field) {
	for _, m := range o {
		key := prefix + m.key
		switch v := m.value.(type) {
		case object:
			row = append(row, x.flatten(table+m.key+".", key+"_", v, within)...)
		case []any:
			x.list(table+m.key, v, within)
		case string:
			row = append(row, field{key, v})
		case nil:
		default:
			row = append(row, field{key, fmt.Sprint(v)})
		}
	}
	return row
}

// list adds a table of a list: a row for each of its elements, which begins with what the row is of.
func (x *exporter) list(name string, all []any, within []field) {
	if name == "repeat.runs.policies.cct_each_seconds" {
		x.eachCoflow(all, within)
		return
	}
	for i, e := range all {
		o, ok := e.(object)
		if !ok {
			x.sheet(name).add(append(slices.Clone(within), field{"value", fmt.Sprint(e)}))
			continue
		}

		own, rest, below := slices.Clone(within), o, name+"."
		switch name {
		case "policies":
			own, rest, below = []field{{"seed", x.seed}, {"policy", o.text("name")}}, o.without("name"), ""
			if i == 0 {
				x.coflows = idsOf(o)
			}
		case "repeat.runs":
			own, rest = append(own, field{"seed", o.text("seed")}), o.without("seed")
		case "repeat.runs.policies":
			own, rest = append(own, field{"policy", o.text("name")}), o.without("name")
		case "jobs":
			rest = o.renamed(map[string]string{"id": "job", "took_seconds": "jct_seconds"})
		case "coflows":
			rest = o.renamed(map[string]string{"id": "coflow", "took_seconds": "cct_seconds"})
		}
		row := append(slices.Clone(own), x.flatten(below, "", rest, own)...)
		x.sheet(name).add(row)
	}
}

// eachCoflow adds the completion times of one run and policy, a row a coflow.
func (x *exporter) eachCoflow(all []any, within []field) {
	for i, v := range all {
		id := fmt.Sprint(i)
		if i < len(x.coflows) {
			id = x.coflows[i]
		}
		x.sheet("repeat.coflows").add(append(slices.Clone(within), field{"coflow", id},
			field{"cct_seconds", fmt.Sprint(v)}))
	}
}

// idsOf returns the ids of a policy's coflows.
func idsOf(policy object) (ids []string) {
	for _, m := range policy {
		if list, ok := m.value.([]any); ok && m.key == "coflows" {
			for _, c := range list {
				if o, ok := c.(object); ok {
					ids = append(ids, o.text("id"))
				}
			}
		}
	}
	return ids
}

// write writes the tables that have rows. It replaces an earlier export's.
func (x *exporter) write(dir string) (*Exported, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, &DiskError{dir, err}
	}
	out := &Exported{Dir: dir}
	for _, s := range x.sheets {
		lines := [][]string{s.columns}
		for _, r := range s.rows {
			line := make([]string, len(s.columns))
			for i, c := range s.columns {
				line[i] = r[c]
			}
			lines = append(lines, line)
		}
		b, err := table2CSV(lines)
		if err != nil {
			return nil, err
		}
		name := s.name + ".csv"
		temp, err := writeTemp(dir, name, b)
		if err == nil {
			err = os.Rename(temp, filepath.Join(dir, name))
		}
		if err != nil {
			return nil, &DiskError{dir, err}
		}
		out.Tables = append(out.Tables, ExportedTable{name, len(s.rows), s.columns})
	}
	return out, nil
}

// object is a JSON object with its keys in their order.
type object []member

type member struct {
	key   string
	value any // object, []any, string, json.Number, bool or nil
}

func (o object) text(key string) string {
	for _, m := range o {
		if m.key == key {
			return fmt.Sprint(m.value)
		}
	}
	return ""
}

func (o object) without(key string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.key == key })
}

// renamed returns the object with other names of some keys.
func (o object) renamed(names map[string]string) object {
	out := slices.Clone(o)
	for i, m := range out {
		out[i].key = cmp.Or(names[m.key], m.key)
	}
	return out
}

// ordered decodes one JSON value.
func ordered(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := ordered(d)
			if err != nil {
				return nil, err
			}
			o = append(o, member{fmt.Sprint(key), v})
		}
		_, err = d.Token()
		return o, err
	case json.Delim('['):
		all := []any{}
		for d.More() {
			v, err := ordered(d)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		_, err = d.Token()
		return all, err
	}
	return t, nil
}

// copied adds a table as it stands. Of a report, each line begins with the run's seed.
func (x *exporter) copied(name string, columns []string, lines [][]string) {
	for _, l := range lines {
		var row []field
		if x.seed != "" {
			row = append(row, field{"seed", x.seed})
		}
		for i, c := range columns {
			row = append(row, field{c, l[i]})
		}
		x.sheet(name).add(row)
	}
}

// Tables returns the lines of circuits.csv and links.csv in a report's folder; none where there is no such file.
func Tables(dir string) (circuits, links [][]string, err error) {
	if circuits, err = readTable(filepath.Join(dir, circuitsFile), circuitColumns()); err != nil {
		return nil, nil, err
	}
	links, err = readTable(filepath.Join(dir, linksFile), linkColumns())
	return circuits, links, err
}

// readTable reads a table with these columns from beside a report; none where there is no such file.
func readTable(path string, columns []string) ([][]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	defer f.Close()
	lines, err := csv.NewReader(io.LimitReader(f, maxReport)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read table %q: %w: run it again, or remove this file", path, err)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], columns) {
		return nil, fmt.Errorf("read table %q: line 1 is not %s: run it again, or remove this file", path,
			strings.Join(columns, ","))
	}
	return lines[1:], nil
}
