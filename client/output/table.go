package output

import (
	"strconv"
	"strings"
	"time"
)

// Column of a table: its heading, and the path of its value in each row.
type Column struct{ Head, Path string }

// Columns reads a list of paths with spaces or commas between them; HEAD=path gives a column another heading than its path's.
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

// heading is what stands over a path's values: without the ending that says what they are.
func heading(path string) string {
	path = strings.TrimSuffix(path, ".name")
	for _, ending := range []string{"_bytes", "_at", "_s"} {
		if short, cut := strings.CutSuffix(path, ending); cut && short != "" {
			return strings.ReplaceAll(short, "_", " ")
		}
	}
	return strings.ReplaceAll(path, "_", " ")
}

// Table writes rows below headings. On a terminal it has no more columns than the terminal, what is longer is cut, and the last
// columns are left out when there is no place for them; elsewhere it is whole. Between two columns are two spaces.
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

// narrowest is how many characters of a column are left at least.
const narrowest = 4

// fits says whether so many columns have a place on the terminal. The last ones are left out where they have none: --columns chooses.
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

// widths are those of the columns. On a terminal the widest are made narrower until all fit.
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

// paint gives a heading and the word of a state its colour.
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

// Fields writes one thing: its fields below each other, those of what is in it with their path.
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

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func first(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// isObject says whether a value of Parse is an object.
func isObject(value any) bool {
	_, ordered := value.(*Object)
	_, plain := value.(map[string]any)
	return ordered || plain
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}
