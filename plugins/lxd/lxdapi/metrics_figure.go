package lxdapi

import (
	"math"
	"strconv"
	"strings"
)

// figure is one line of the metrics. The name is without the product in front.
type figure struct {
	name   string
	labels map[string]string
	value  float64
}

// readFigure reads name{label="value",…} value. known is false for comments, for what is about the server itself, and for a
// value that is none.
func readFigure(line string) (f figure, known bool, err error) {
	if line == "" || line[0] == '#' {
		return figure{}, false, nil
	}
	name, rest, _ := strings.Cut(line, "{")
	f.name, known = strings.CutPrefix(name, "lxd_")
	if !known {
		f.name, known = strings.CutPrefix(name, "incus_")
	}
	if !known || name == line { // without labels: of the server
		return figure{}, false, nil
	}
	f.labels = map[string]string{}
	if rest, err = readLabels(rest, f.labels); err != nil {
		return figure{}, false, err
	}
	value, _, _ := strings.Cut(strings.TrimSpace(rest), " ") // a time may follow
	f.value, err = strconv.ParseFloat(value, 64)
	if err != nil && !math.IsInf(f.value, 0) {
		return figure{}, false, errShape
	}
	_, ofInstance := f.labels["name"]
	return f, ofInstance && !math.IsInf(f.value, 0) && !math.IsNaN(f.value), nil
}

// readLabels reads up to the closing brace and gives what follows it.
func readLabels(text string, labels map[string]string) (string, error) {
	for {
		text = strings.TrimLeft(text, ", ")
		if rest, ended := strings.CutPrefix(text, "}"); ended {
			return rest, nil
		}
		name, rest, ok := strings.Cut(text, `="`)
		if !ok || len(labels) == maxLabels {
			return "", errShape
		}
		value, rest, ok := readQuoted(rest)
		if !ok {
			return "", errShape
		}
		labels[name], text = value, rest
	}
}

// readQuoted reads up to the closing quote and resolves the three escapes that the format has.
func readQuoted(text string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], true
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] == 'n' {
				b.WriteByte('\n')
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
