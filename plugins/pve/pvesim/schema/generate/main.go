// Command generate makes methods.txt and macros.txt of package schema from what a real server says about itself. Without that it
// leaves the files as they are: a clone of the repository alone has none.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	dir := flag.String("from", "", "folder with api-schema.json, api-version-diff.json and firewall-macros.json "+
		"(default: $HOSTLER_REFERENCE_DIR/pve, or ../shared/pve beside the repository)")
	out := flag.String("o", ".", "folder to write to")
	flag.Parse()
	if err := run(*dir, *out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(dir, out string) error {
	named := dir != ""
	if !named {
		dir = referenceDir()
	}
	methods, err := generateMethods(dir)
	if errors.Is(err, fs.ErrNotExist) && !named {
		fmt.Fprintf(os.Stderr, "generate: no schema in %s: the files stay as they are\n", dir)
		return nil
	}
	if err != nil {
		return err
	}
	macros, err := generateMacros(dir)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(out, "methods.txt"), methods, 0o644), os.WriteFile(filepath.Join(out, "macros.txt"), macros, 0o644))
}

// referenceDir is where the reference data is when nobody says: in the folder of the environment, or beside the repository.
func referenceDir() string {
	if dir := os.Getenv("HOSTLER_REFERENCE_DIR"); dir != "" {
		return filepath.Join(dir, "pve")
	}
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return filepath.Join(dir, "..", "shared", "pve")
}

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

func readJSON(dir, name string, into any) error {
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("decoding %s: %w", name, err)
	}
	return nil
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

// kept are the members of a parameter that are facts for a server.
var kept = []string{
	"type", "optional", "format", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "requires", "alias", "default", "default_key", "items",
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
