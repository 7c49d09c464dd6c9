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

// Table is a golden file of rows: notes, a line with the column names, and one line per row with cells separated by tabs. Rows are sorted
// and independent, so a new row changes one line. When branches merge, Git keeps the new rows of both sides (.gitattributes) in any order.
// The comparison ignores the order, and the next go generate sorts the rows.
type Table struct {
	head  string
	rows  []string
	order func(a, b string) int
}

// NewTable returns a table without rows. notes is empty, or lines that begin with #.
func NewTable(notes string, columns ...string) *Table {
	return &Table{head: notes + line(columns), order: strings.Compare}
}

// NewListing returns a table that is sorted by the first cell only, so rows with the same first cell keep their order.
func NewListing(notes string, columns ...string) *Table {
	t := NewTable(notes, columns...)
	t.order = func(a, b string) int { return strings.Compare(first(a), first(b)) }
	return t
}

// Add adds a row. An empty cell is written as a hyphen.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, line(cells)) }

// Bytes returns the text of the file.
func (t *Table) Bytes() []byte {
	return []byte(t.head + strings.Join(slices.SortedStableFunc(slices.Values(t.rows), t.order), ""))
}

// Golden compares the table with the file, or writes the file with go test -update.
func (t *Table) Golden(tb testing.TB, file string) {
	tb.Helper()
	if *update {
		Golden(tb, file, t.Bytes())
		return
	}
	t.hold(tb, file, false)
}

// GoldenPart compares the table with the rows of the file that have the same first cells.
func (t *Table) GoldenPart(tb testing.TB, file string) {
	tb.Helper()
	t.hold(tb, file, true)
}

func (t *Table) hold(tb testing.TB, file string, part bool) {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatalf("%v; run go generate or go test -update to write it", err)
	}
	if complaint := t.differs(text, part); complaint != "" {
		tb.Errorf("%s is out of date; review the difference, then run go generate or go test -update\n%s", file, complaint)
	}
}

// differs describes the rows that only the file or only the table has. It returns "" if they agree.
func (t *Table) differs(text []byte, part bool) string {
	body, ok := bytes.CutPrefix(text, []byte(t.head))
	if !ok {
		return "the file does not begin with\n" + t.head
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
	return cmp.Or(shown("-", gone)+shown("+", come), "rows with the same first cell are in another order or duplicated")
}

// without returns the rows that are not in others.
func without(rows, others []string) []string {
	return slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return slices.Contains(others, row) })
}

// shown returns the first few rows, each after a mark.
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

// first returns the first cell of a row.
func first(row string) string {
	cell, _, _ := strings.Cut(row, "\t")
	return cell
}
