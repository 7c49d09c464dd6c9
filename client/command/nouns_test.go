package command

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/client/api"
	"github.com/hostler/hostler/client/api/generate/table"
	"github.com/hostler/hostler/client/output"
)

// schemas are those of the document, as far as the test looks into them.
type schema struct {
	Ref        string            `json:"$ref"`
	AnyOf      []schema          `json:"anyOf"`
	OneOf      []schema          `json:"oneOf"`
	Properties map[string]schema `json:"properties"`
}

// Every column of a list is a field of the answer, every argument a parameter of the path or a field of the body, and what a path needs is
// there, for each verb and for each kind of thing that has names.
func TestVerbsFitTheDocument(t *testing.T) {
	t.Parallel()
	text, err := table.Document("../..")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Components struct {
			Schemas map[string]schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	var has func(s schema, path string) bool
	has = func(s schema, path string) bool {
		if s.Ref != "" {
			return has(d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]], path)
		}
		for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
			if has(one, path) {
				return true
			}
		}
		name, rest, deeper := strings.Cut(path, ".")
		below, ok := s.Properties[name]
		return ok && (!deeper || has(below, rest))
	}
	for _, n := range nouns {
		for _, v := range n.verbs {
			for _, id := range []string{v.op, v.appOp} {
				if id == "" {
					continue
				}
				op := api.Find(id)
				answer := d.Components.Schemas[op.Answer]
				for _, c := range output.Columns(v.columns) {
					if op.Answer != "" && !has(answer, c.Path) {
						t.Errorf("%s %s: %s has no field %s", n.name, v.name, op.Answer, c.Path)
					}
				}
				checkArguments(t, n.name+" "+v.name, v, op)
			}
		}
	}
	for name, k := range kinds {
		if k.op == "" {
			continue
		}
		for _, field := range slices.Concat(k.names, k.about) {
			if op := api.Find(k.op); !has(d.Components.Schemas[op.Answer], field) {
				t.Errorf("the kind %s: %s has no field %s", name, op.Answer, field)
			}
		}
	}
}

func checkArguments(t *testing.T, command string, v verb, op *api.Operation) {
	t.Helper()
	given := map[string]bool{}
	for name := range v.path {
		given[name] = true
	}
	for _, a := range parseArguments(v.args) {
		if _, known := kinds[a.kind]; a.kind != "" && !known {
			t.Errorf("%s: there is no kind %s", command, a.kind)
		}
		switch a.kind {
		case "node", "storage":
			given["host_id"] = true
		case "guest":
			given["vm_id"], given["app_id"] = true, true
		}
		if !a.body {
			given[a.name] = true
			continue
		}
		if !slices.ContainsFunc(op.Body, func(f api.Field) bool { return f.Name == a.name }) {
			t.Errorf("%s: the body has no field %s", command, a.name)
		}
	}
	for part := range strings.SplitSeq(op.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok && !given[strings.TrimSuffix(name, "}")] {
			t.Errorf("%s: nothing gives %s of %s", command, name, op.Path)
		}
	}
}

// Examples are command lines that the commands take.
func TestExamplesAreTaken(t *testing.T) {
	t.Parallel()
	for _, n := range nouns {
		for _, v := range n.verbs {
			if v.example == "" {
				continue
			}
			root := New("", strings.NewReader(""), &output.Screen{Out: new(strings.Builder), Err: new(strings.Builder)})
			words := append([]string{n.name, v.name}, shellWords(v.example)...)
			c, rest, err := root.Find(words)
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err == nil {
				err = c.ValidateArgs(c.Flags().Args())
			}
			if err != nil {
				t.Errorf("hostler %s: %v", strings.Join(words, " "), err)
			}
		}
	}
}

// shellWords splits a line as a shell does, with quotes of both kinds.
func shellWords(line string) (words []string) {
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	return words
}
