package apitest

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Table is a golden file of rows: notes, a line that names the columns, and a line for each row, its cells separated by tabs. The rows are
// sorted and none needs another, so one more changes one line. Git puts both sides' new rows one below the other (.gitattributes), in
// whatever order; that is no difference here, and the next go generate sorts them.
type Table struct {
	head  string
	rows  []string
	order func(a, b string) int
}

// NewTable is a table without rows. notes are lines that begin with #, or "".
func NewTable(notes string, columns ...string) *Table {
	return &Table{head: notes + line(columns), order: strings.Compare}
}

// NewListing is a table whose rows are sorted by their first cell alone: those about one thing keep their order.
func NewListing(notes string, columns ...string) *Table {
	t := NewTable(notes, columns...)
	t.order = func(a, b string) int { return strings.Compare(first(a), first(b)) }
	return t
}

// Add adds a row. An empty cell is written as a hyphen.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, line(cells)) }

// Bytes is the file's text.
func (t *Table) Bytes() []byte {
	return []byte(t.head + strings.Join(slices.SortedStableFunc(slices.Values(t.rows), t.order), ""))
}

// Golden holds the table against the file; go test -update writes it instead.
func (t *Table) Golden(tb testing.TB, file string) {
	tb.Helper()
	if *update {
		Golden(tb, file, t.Bytes())
		return
	}
	t.hold(tb, file, false)
}

// GoldenPart holds the table against those rows of the file whose first cell one of its own rows has.
func (t *Table) GoldenPart(tb testing.TB, file string) {
	tb.Helper()
	t.hold(tb, file, true)
}

func (t *Table) hold(tb testing.TB, file string, part bool) {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatalf("%v; go generate writes it, or go test -update", err)
	}
	if complaint := t.differs(text, part); complaint != "" {
		tb.Errorf("%s is no longer what comes out; look at the difference and run go generate, or go test -update\n%s", file, complaint)
	}
}

// differs says what a file has that the table has not, and the other way round; "" for nothing.
func (t *Table) differs(text []byte, part bool) string {
	body, ok := bytes.CutPrefix(text, []byte(t.head))
	if !ok {
		return "it does not begin with\n" + t.head
	}
	own := map[string]bool{}
	for _, row := range t.rows {
		own[first(row)] = true
	}
	var there []string
	for row := range strings.Lines(string(body)) {
		if !part || own[first(row)] {
			there = append(there, row)
		}
	}
	slices.SortStableFunc(there, t.order)
	made := slices.SortedStableFunc(slices.Values(t.rows), t.order)
	if slices.Equal(there, made) {
		return ""
	}
	gone, come := without(there, made), without(made, there)
	return cmp.Or(shown("-", gone)+shown("+", come), "the rows about one thing stand in another order, or twice")
}

// without are the rows that others lacks.
func without(rows, others []string) []string {
	return slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return slices.Contains(others, row) })
}

// shown are the first few rows, each after a mark.
func shown(mark string, rows []string) string {
	const most = 8
	var b strings.Builder
	for _, row := range rows[:min(most, len(rows))] {
		fmt.Fprintf(&b, "%s %s\n", mark, strings.TrimSuffix(row, "\n"))
	}
	if more := len(rows) - most; more > 0 {
		fmt.Fprintf(&b, "%s %d more\n", mark, more)
	}
	return b.String()
}

func line(cells []string) string {
	filled := make([]string, len(cells))
	for i, cell := range cells {
		if filled[i] = cmp.Or(cell, "-"); strings.ContainsAny(cell, "\t\n") {
			panic(fmt.Sprintf("apitest: the cell %q would be several", cell))
		}
	}
	return strings.Join(filled, "\t") + "\n"
}

// first is the first cell of a row.
func first(row string) string {
	cell, _, _ := strings.Cut(row, "\t")
	return cell
}
