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

// Object is a JSON object whose keys keep the order of the response. The API
// writes important fields first, and Fields shows them in that order. A key
// that occurs twice has its last value at its first position.
type Object struct {
	Keys   []string
	Values map[string]any
}

// Parse reads a JSON response that contains exactly one value. An object
// becomes an *Object, and so do the objects in it. If the outermost value is a
// list, its objects are map[string]any: a list can have many thousand rows, and
// tables do not need the order of keys. Numbers are json.Number, so that IDs
// keep all digits; other values are as encoding/json decodes them. Parse
// returns an error for invalid JSON, for a second value and for nesting deeper
// than maxDepth.
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

// maxDepth is the maximum nesting of an object that Parse accepts. parse is
// recursive, so without a bound a hostile service could exhaust the stack.
// encoding/json has its own bound for lists.
const maxDepth = 200

// parse reads one value from the decoder. depth is the number of objects and
// lists around it.
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

// At returns the value at a path of keys with dots between them, such as
// target.name. It returns nil if the path does not exist, which looks the same
// as a null; the table shows both as "-". Paths cannot reach into lists.
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

// Show returns a value as text for people, on one line and cleaned. The last
// part of the path is the field name, and it decides what a number means:
// bytes, seconds, or a fraction that is shown as a percentage. A timestamp in a
// time field is shown relative to now. Missing and empty values are "-". An
// object is shown by its name, email, key or ID if it has one, otherwise as
// key=value pairs.
//
// Programs must not parse this text: it is for --json and --jq that the values
// stay exact.
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

// inOrder returns a map as an Object with sorted keys, so that the same object
// always prints the same way.
func inOrder(of map[string]any) *Object { return &Object{slices.Sorted(maps.Keys(of)), of} }

// isTime reports whether a field contains a time by its name. A text that only
// looks like a timestamp, such as the name of a snapshot, must not become "3 h
// ago".
func isTime(name string) bool {
	return name == "at" || strings.HasSuffix(name, "_at") || name == "snaptime" || name == "since" || name == "as_of"
}

// number formats a number by the name of its field, as the API names them:
// _bytes, free, total and size are bytes, _s is seconds, cpu and progress are
// fractions of 1. Other numbers are written with their original digits.
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

// Bytes formats a number of bytes with binary units, as hypervisors count
// memory and disks: 1 KiB is 1024 B. It keeps one decimal below 100, and none
// from 100 on and for plain bytes.
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

// Duration formats a number of seconds in days, hours or minutes, rounded down.
// A unit is used from two of it on: 90 minutes are "90 min" and not "1 h",
// because the smaller unit is more exact there. Below two minutes it returns
// seconds with at most one decimal.
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

// Ago formats a time relative to now: "3 h ago" or "in 2 d". A time up to one
// second in the future counts as now, because the clocks of the client and of
// the service differ slightly.
func Ago(at, now time.Time) string {
	if at.After(now.Add(time.Second)) {
		return "in " + Duration(math.Floor(at.Sub(now).Seconds()))
	}
	return Duration(math.Max(0, math.Floor(now.Sub(at).Seconds()))) + " ago"
}
