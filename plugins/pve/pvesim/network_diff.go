package pvesim

import (
	"fmt"
	"regexp"
	"strings"
)

// diffLine is a line of a diff; its sign is ' ', '-' or '+'. at and to are how
// many lines of both files stand before it.
type diffLine struct {
	sign   byte
	text   string
	at, to int
}

// sameLine is what diff -b looks at: how many blanks there are is nothing.
func sameLine(a, b string) bool {
	trimmed := func(s string) string { return blanks.ReplaceAllString(strings.TrimRight(s, " \t\r"), " ") }
	return a == b || trimmed(a) == trimmed(b)
}

// blanks matches white space within a line.
var blanks = regexp.MustCompile(`[ \t]+`)

// diffLines are all lines of two files, by their longest common sequence.
func diffLines(old, changed []string) []diffLine {
	common := make([][]int, len(old)+1)
	for i := range common {
		common[i] = make([]int, len(changed)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(changed) - 1; j >= 0; j-- {
			if sameLine(old[i], changed[j]) {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []diffLine
	i, j := 0, 0
	for i < len(old) || j < len(changed) {
		switch {
		case i < len(old) && j < len(changed) && sameLine(old[i], changed[j]):
			out = append(out, diffLine{' ', old[i], i, j})
			i, j = i+1, j+1
		case j == len(changed) || i < len(old) && common[i+1][j] >= common[i][j+1]:
			out = append(out, diffLine{'-', old[i], i, j})
			i++
		default:
			out = append(out, diffLine{'+', changed[j], i, j})
			j++
		}
	}
	return out
}

// diffContext is how many lines stand around those that differ.
const diffContext = 3

// unified are the hunks between two files; empty where they are equal.
func unified(old, changed []string) string {
	lines := diffLines(old, changed)
	var b strings.Builder
	for i := 0; i < len(lines); {
		if lines[i].sign == ' ' {
			i++
			continue
		}
		from, end := max(0, i-diffContext), i
		for k := i; k < len(lines) && k <= end+2*diffContext; k++ {
			if lines[k].sign != ' ' {
				end = k
			}
		}
		to := min(len(lines), end+1+diffContext)
		hunk := lines[from:to]
		olds, news := 0, 0
		for _, l := range hunk {
			if l.sign != '+' {
				olds++
			}
			if l.sign != '-' {
				news++
			}
		}
		_, _ = fmt.Fprintf(&b, "@@ -%s +%s @@\n", span(hunk[0].at, olds), span(hunk[0].to, news))
		for _, l := range hunk {
			_, _ = fmt.Fprintf(&b, "%c%s\n", l.sign, l.text)
		}
		i = to
	}
	return b.String()
}

// span returns one side of a hunk's header, in the notation of diff.
func span(before, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", before)
	case 1:
		return fmt.Sprint(before + 1)
	}
	return fmt.Sprintf("%d,%d", before+1, count)
}
