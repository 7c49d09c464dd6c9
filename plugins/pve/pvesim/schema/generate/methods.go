package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// object is a JSON object of the source whose members are picked by name.
type object = map[string]json.RawMessage

// method is one method of the source.
type method struct {
	Method      string            `json:"method"`
	Path        string            `json:"path"`
	Permissions object            `json:"permissions"`
	Protected   int               `json:"protected"`
	AllowToken  int               `json:"allowtoken"`
	ProxyTo     string            `json:"proxyto"`
	Parameters  map[string]object `json:"parameters"`
	Versions    []string          `json:"versions"`
}

// changes are the differences between releases that the schema itself does not carry.
type changes struct {
	Permissions []struct {
		Method, Path string
		Old          object
	} `json:"permission_changes_8.4_to_9.2"`
	Enums []struct {
		Method, Path, Param string
		Added               []string
	} `json:"enum_changes_8.4_to_9.2"`
}

// generateMethods writes the facts about all methods in the order of path and method.
func generateMethods(dir string) ([]byte, error) {
	var methods []method
	if err := readJSON(dir, "api-schema.json", &methods); err != nil {
		return nil, err
	}
	var diff changes
	if err := readJSON(dir, "api-version-diff.json", &diff); err != nil {
		return nil, err
	}
	slices.SortFunc(methods, func(a, b method) int { return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
	var b bytes.Buffer
	for _, m := range methods {
		head, err := m.facts(diff)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", m.Method, m.Path, err)
		}
		fmt.Fprintf(&b, "%s %s %s\n", m.Method, m.Path, head)
		for _, name := range slices.Sorted(maps.Keys(m.Parameters)) {
			line, err := m.parameter(name, diff)
			if err != nil {
				return nil, fmt.Errorf("%s %s, parameter %s: %w", m.Method, m.Path, name, err)
			}
			fmt.Fprintf(&b, "\t%s %s\n", name, line)
		}
	}
	return b.Bytes(), nil
}

// facts is the line of the method itself.
func (m method) facts(diff changes) ([]byte, error) {
	var l line
	if m.Permissions["check"] != nil {
		l.add("check", m.Permissions["check"])
	} else if m.Permissions["user"] != nil {
		l.add("user", m.Permissions["user"])
	}
	for _, c := range diff.Permissions {
		if c.Method == m.Method && c.Path == m.Path {
			var old line
			for _, key := range []string{"check", "user"} {
				if c.Old[key] != nil {
					old.add(key, c.Old[key])
				}
			}
			encoded, err := old.encode()
			if err != nil {
				return nil, err
			}
			l.add("before9", encoded)
		}
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"daemon", m.Protected == 1}, {"node", m.ProxyTo == "node"}, {"notoken", m.AllowToken == 0}} {
		if flag.set {
			l.add(flag.name, []byte("1"))
		}
	}
	if m.ProxyTo != "" && m.ProxyTo != "node" {
		return nil, fmt.Errorf("is passed on to %q", m.ProxyTo)
	}
	l.since(missing(m.Versions))
	return l.encode()
}

// known are the releases that the source compares, and the one that follows each: what the last lacks came with that.
var known = []struct{ version, next string }{{"7.4-16", "8.0"}, {"8.4.5", "9.0"}, {"9.1.3", "9.2"}}

// missing lists the known releases before the first of those that have something.
func missing(versions []string) []string {
	var out []string
	for _, k := range known {
		if slices.Contains(versions, k.version) {
			break
		}
		out = append(out, k.version)
	}
	return out
}

// parameter is the line of one parameter.
func (m method) parameter(name string, diff changes) ([]byte, error) {
	p := m.Parameters[name]
	l, err := pick(p)
	if err != nil {
		return nil, err
	}
	for _, c := range diff.Enums {
		if c.Method == m.Method && c.Path == m.Path && c.Param == name && len(c.Added) > 0 {
			added, err := json.Marshal(c.Added)
			if err != nil {
				return nil, err
			}
			l.add("new9", added)
		}
	}
	var absent []string
	if p["not_in"] != nil {
		if err := json.Unmarshal(p["not_in"], &absent); err != nil {
			return nil, err
		}
	}
	l.since(absent)
	return l.encode()
}
