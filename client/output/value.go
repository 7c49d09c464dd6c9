package output

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Object is a JSON object whose keys keep their order.
type Object struct {
	Keys   []string
	Values map[string]any
}

// Parse reads JSON: an object is an *Object, as are those in it; in a list, which may be long, they are maps, for nobody looks at their
// order. Numbers are json.Number, the rest is as encoding/json has it.
func Parse(body []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		err = d.Decode(&value)
	} else {
		value, err = parse(d, 0)
	}
	if err == nil && d.More() {
		err = errors.New("more than one value")
	}
	if err != nil {
		return nil, fmt.Errorf("the response is not valid JSON: %w", err)
	}
	return value, nil
}

// maxDepth bounds how deep values may lie in each other.
const maxDepth = 200

func parse(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, errors.New("nested too deep")
	}
	switch token {
	case json.Delim('{'):
		o := &Object{Values: map[string]any{}}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := parse(d, depth+1)
			if err != nil {
				return nil, err
			}
			name := key.(string) // a decoder gives no other
			if _, twice := o.Values[name]; !twice {
				o.Keys = append(o.Keys, name)
			}
			o.Values[name] = value
		}
		_, err := d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			value, err := parse(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err := d.Token()
		return list, err
	}
	return token, nil
}

// At is what stands at a path such as target.name; nil when nothing does.
func At(value any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		switch o := value.(type) {
		case *Object:
			value = o.Values[part]
		case map[string]any:
			value = o[part]
		default:
			return nil
		}
	}
	return value
}

// Show writes a value for people. Its field's name says what a number means: bytes, seconds, a part of one; and a time is told as how
// long ago it was, or will be.
func Show(name string, value any, now time.Time) string {
	name = name[strings.LastIndexByte(name, '.')+1:]
	switch v := value.(type) {
	case nil:
		return "-"
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case json.Number:
		return number(name, v)
	case string:
		if v == "" {
			return "-"
		}
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil && isTime(name) {
			return Ago(at, now)
		}
		return CleanLine(v)
	case []any:
		texts := make([]string, 0, len(v))
		for _, one := range v {
			texts = append(texts, Show("", one, now))
		}
		return cmp.Or(strings.Join(texts, ", "), "-")
	case map[string]any:
		return Show(name, inOrder(v), now)
	case *Object:
		for _, key := range []string{"name", "email", "key", "id"} { // what stands for it in a line
			if one := v.Values[key]; one != nil {
				return Show(key, one, now)
			}
		}
		texts := make([]string, 0, len(v.Keys))
		for _, key := range v.Keys {
			texts = append(texts, CleanLine(key)+"="+Show(key, v.Values[key], now))
		}
		return cmp.Or(strings.Join(texts, " "), "-")
	}
	return CleanLine(fmt.Sprint(value))
}

// inOrder is an object whose keys are sorted.
func inOrder(of map[string]any) *Object { return &Object{slices.Sorted(maps.Keys(of)), of} }

func isTime(name string) bool {
	return name == "at" || strings.HasSuffix(name, "_at") || name == "snaptime" || name == "since" || name == "as_of"
}

func number(name string, v json.Number) string {
	f, err := v.Float64()
	if err != nil {
		return CleanLine(v.String())
	}
	switch {
	case strings.HasSuffix(name, "_bytes") || name == "free" || name == "total" || name == "size":
		return Bytes(f)
	case strings.HasSuffix(name, "_s"):
		return Duration(f)
	case name == "cpu" || name == "progress":
		return strconv.FormatFloat(f*100, 'f', 0, 64) + " %"
	}
	return v.String()
}

// Bytes is a number of bytes in the unit that makes it short.
func Bytes(n float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for ; math.Abs(n) >= 1024 && i < len(units)-1; i++ {
		n /= 1024
	}
	if i == 0 || n >= 100 {
		return strconv.FormatFloat(n, 'f', 0, 64) + " " + units[i]
	}
	return strconv.FormatFloat(n, 'f', 1, 64) + " " + units[i]
}

// Duration is a time in seconds by its largest unit.
func Duration(seconds float64) string {
	for _, unit := range []struct {
		seconds float64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "min"}} {
		if seconds >= 2*unit.seconds {
			return strconv.FormatFloat(math.Floor(seconds/unit.seconds), 'f', 0, 64) + " " + unit.name
		}
	}
	return strconv.FormatFloat(math.Round(seconds*10)/10, 'f', -1, 64) + " s"
}

// Ago is how long ago a time was, or in how long it will be.
func Ago(at, now time.Time) string {
	if at.After(now.Add(time.Second)) {
		return "in " + Duration(math.Floor(at.Sub(now).Seconds()))
	}
	return Duration(math.Max(0, math.Floor(now.Sub(at).Seconds()))) + " ago"
}
