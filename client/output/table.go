package output

import (
	"strconv"
	"strings"
	"time"
)

// Column is a column of a table. Head is its heading in capitals; Path is the
// path of its value in each row, such as target.name (see At).
type Column struct{ Head, Path string }

// Columns parses the columns of a table: paths, separated by spaces or commas.
// HEAD=path gives a column its own heading; otherwise the heading is derived
// from the path. It accepts any path, because the rows decide whether a field
// exists; a missing value is shown as "-".
func Columns(spec string) []Column {
	var columns []Column
	for _, field := range strings.FieldsFunc(spec, func(r rune) bool { return r == ' ' || r == ',' }) {
		head, path, named := strings.Cut(field, "=")
		if !named {
			path, head = field, heading(field)
		}
		columns = append(columns, Column{strings.ToUpper(head), path})
	}
	return columns
}

// heading derives the heading of a column from its path. It drops a final
// .name, and the endings _bytes, _at and _s, because the cells show the unit:
// memory_bytes becomes "memory", and target.name becomes "target".
func heading(path string) string {
	path = strings.TrimSuffix(path, ".name")
	for _, ending := range []string{"_bytes", "_at", "_s"} {
		if short, cut := strings.CutSuffix(path, ending); cut && short != "" {
			return strings.ReplaceAll(short, "_", " ")
		}
	}
	return strings.ReplaceAll(path, "_", " ")
}

// Table writes rows below their headings, with two spaces between columns. Each
// row is an object as Parse returns it.
//
// On a terminal the table fits the width: long cells are truncated, and the
// last columns are left out if even narrow cells do not fit. Elsewhere nothing
// is truncated, so that scripts with awk or cut see whole values. Callers
// therefore put the most important columns first.
func (s *Screen) Table(columns []Column, rows []any) {
	now := time.Now()
	cells := make([][]string, 0, len(rows)+1)
	heads := make([]string, len(columns))
	for i, c := range columns {
		heads[i] = c.Head
	}
	cells = append(cells, heads)
	for _, row := range rows {
		line := make([]string, len(columns))
		for i, c := range columns {
			line[i] = Show(c.Path, At(row, c.Path), now)
		}
		cells = append(cells, line)
	}
	for len(columns) > 1 && !s.fits(cells, len(columns)) {
		columns = columns[:len(columns)-1]
	}
	widths := s.widths(cells, len(columns))
	var out strings.Builder
	for n, line := range cells {
		for i, cell := range line[:len(columns)] {
			if s.Columns > 0 {
				cell = Truncate(cell, widths[i])
			}
			if i > 0 {
				out.WriteString("  ")
			}
			out.WriteString(s.paint(n, columns[i].Path, cell))
			if i < len(columns)-1 {
				out.WriteString(strings.Repeat(" ", max(0, widths[i]-Width(cell))))
			}
		}
		out.WriteByte('\n')
	}
	s.Print(out.String())
}

// narrowest is the minimum width to which a column is shrunk, in columns of the
// terminal. Three characters and an ellipsis still tell rows apart; below that,
// it is better to leave out a column.
const narrowest = 4

// fits reports whether the first columns of a table fit the terminal when each
// one is shrunk to its minimum. The user can choose other columns with
// --columns.
func (s *Screen) fits(cells [][]string, columns int) bool {
	if s.Columns == 0 {
		return true
	}
	total := 2 * (columns - 1)
	for i := range columns {
		widest := 0
		for _, line := range cells {
			widest = max(widest, Width(line[i]))
		}
		total += min(widest, narrowest)
	}
	return total <= s.Columns
}

// widths returns the width of each column. On a terminal, the widest column
// loses one character at a time until the table fits. So short columns such as
// IDs keep their width, and long texts share what is left.
func (s *Screen) widths(cells [][]string, columns int) []int {
	widths := make([]int, columns)
	for _, line := range cells {
		for i, cell := range line[:columns] {
			widths[i] = max(widths[i], Width(cell))
		}
	}
	if s.Columns == 0 || columns == 0 {
		return widths
	}
	total := 2 * (columns - 1)
	for _, w := range widths {
		total += w
	}
	for total > s.Columns {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= narrowest {
			break
		}
		widths[widest]--
		total--
	}
	return widths
}

// paint colors a cell: headings are bold, and the word of a state has the color
// of its meaning. Only columns whose field is named status, state, result or
// severity contain such words. Line 0 is the heading.
func (s *Screen) paint(line int, path, cell string) string {
	if line == 0 {
		return s.Colour(Bold, cell)
	}
	switch path[strings.LastIndexByte(path, '.')+1:] {
	case "status", "state", "result", "severity":
		return s.Colour(stateColour(cell), cell)
	}
	return cell
}

// stateColour returns the color of a state: green for what is well, red for
// what needs attention now, yellow for what is in transition or degraded. An
// unknown word, such as one from a newer service, is plain.
func stateColour(word string) Colour {
	switch word {
	case "running", "online", "succeeded", "ok", "available", "covered":
		return Green
	case "failed", "unreachable", "offline", "critical", "missing":
		return Red
	case "pending", "queued", "unknown", "warning", "paused", "suspended", "canceled", "refused", "stale", "partial", "open":
		return Yellow
	}
	return Plain
}

// Fields writes one object, one field per line. Fields of nested objects have a
// path such as target.name; objects in a list have an index such as
// nics[0].mac. A list of plain values is one line, and a text of several lines
// is indented below its name. An empty object is shown as "-", so that a field
// never disappears.
func (s *Screen) Fields(value any) {
	now := time.Now()
	var names, texts []string
	var walk func(path string, value any)
	walk = func(path string, value any) {
		if object, is := value.(map[string]any); is {
			value = inOrder(object)
		}
		switch v := value.(type) {
		case *Object:
			for _, key := range v.Keys {
				walk(join(path, CleanLine(key)), v.Values[key])
			}
			if len(v.Keys) > 0 {
				return
			}
		case []any:
			if isObject(first(v)) {
				for i, one := range v {
					walk(path+"["+strconv.Itoa(i)+"]", one)
				}
				return
			}
		case string:
			if strings.ContainsRune(v, '\n') {
				names, texts = append(names, path), append(texts, "\n"+indent(Clean(v)))
				return
			}
		}
		names, texts = append(names, path), append(texts, Show(path, value, now))
	}
	walk("", value)
	widest := 0
	for _, name := range names {
		widest = max(widest, Width(name))
	}
	var out strings.Builder
	for i, name := range names {
		out.WriteString(s.Colour(Bold, name))
		if name != "" && !strings.HasPrefix(texts[i], "\n") {
			out.WriteString(strings.Repeat(" ", widest-Width(name)+2))
		}
		out.WriteString(texts[i] + "\n")
	}
	s.Print(out.String())
}

// join appends a key to a path. The path of the outermost object is empty.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// first returns the first value of a list, or nil if it is empty.
func first(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// isObject reports whether a value of Parse is an object, in either of its two
// forms.
func isObject(value any) bool {
	_, ordered := value.(*Object)
	_, plain := value.(map[string]any)
	return ordered || plain
}

// indent indents each line of a text by four spaces and drops line feeds at the
// end.
func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}
