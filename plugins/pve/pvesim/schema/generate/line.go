package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// kept are the members of a parameter that are facts for a server.
var kept = []string{
	"type", "optional", "format", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "requires", "alias", "default",
	"default_key", "items",
}

// pick takes what is kept of a parameter, and of the keys and elements in it.
func pick(p object) (*line, error) {
	l := &line{}
	for _, key := range kept {
		raw := p[key]
		if raw == nil || string(raw) == "null" || key == "optional" && string(raw) == "0" {
			continue
		}
		var err error
		switch {
		case key == "minimum" || key == "maximum": // the source writes some as text
			raw = bytes.Trim(raw, `"`)
		case key == "items":
			var items object
			if err = json.Unmarshal(raw, &items); err == nil {
				raw, err = pickEncoded(items)
			}
		case key == "format" && raw[0] == '{':
			raw, err = pickKeys(raw)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		l.add(key, raw)
	}
	return l, nil
}

func pickEncoded(p object) ([]byte, error) {
	l, err := pick(p)
	if err != nil {
		return nil, err
	}
	return l.encode()
}

// pickKeys does so for the keys of a property string.
func pickKeys(raw []byte) ([]byte, error) {
	var keys map[string]object
	if err := json.Unmarshal(raw, &keys); err != nil {
		return nil, err
	}
	var l line
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		encoded, err := pickEncoded(keys[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		l.add(name, encoded)
	}
	return l.encode()
}

// line is a JSON object whose members keep their order.
type line struct{ b bytes.Buffer }

func (l *line) add(name string, raw []byte) {
	if l.b.Len() > 0 {
		l.b.WriteByte(',')
	}
	fmt.Fprintf(&l.b, "%q:%s", name, raw)
}

// since adds the release that followed the last of those which lack something.
func (l *line) since(absent []string) {
	for _, k := range slices.Backward(known) {
		if slices.Contains(absent, k.version) {
			l.add("since", []byte(`"`+k.next+`"`))
			return
		}
	}
}

func (l *line) encode() ([]byte, error) {
	var out bytes.Buffer
	if err := json.Compact(&out, append(append([]byte("{"), l.b.Bytes()...), '}')); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
