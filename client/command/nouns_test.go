package command

import (
	"encoding/json"
	"regexp"
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
	Items      *schema           `json:"items"`
	// Additional is true for an object that can hold anything, and a schema where all its values have one.
	Additional json.RawMessage `json:"additionalProperties"`
}

// secretName matches names of fields that hold secrets.
var secretName = regexp.MustCompile(`(^|_)(password|secret|secrets|token|tokens|paste|credential|answers)$`)

// operationBody is an operation of the document, as far as its body goes.
type operationBody struct {
	ID          string `json:"operationId"`
	RequestBody struct {
		Content map[string]struct {
			Schema schema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
}

// Every field of a body that can hold a secret is kept off the command line: by its name, by a name below it, or because it can hold
// anything.
func TestFlags_KeepFieldsThatCanHoldSecretsOffTheCommandLine(t *testing.T) {
	t.Parallel()
	text, err := table.Document("../..")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Paths      map[string]map[string]operationBody `json:"paths"`
		Components struct {
			Schemas map[string]schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	deref := func(s schema) schema {
		for s.Ref != "" {
			s = d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
		}
		return s
	}
	var canHold func(name string, s schema, depth int) bool
	canHold = func(name string, s schema, depth int) bool {
		s = deref(s)
		if secretName.MatchString(name) || string(s.Additional) == "true" {
			return true
		}
		below := slices.Concat(s.AnyOf, s.OneOf)
		if s.Items != nil {
			below = append(below, *s.Items)
		}
		for name, of := range s.Properties {
			if depth < 8 && canHold(name, of, depth+1) {
				return true
			}
		}
		return depth < 8 && slices.ContainsFunc(below, func(of schema) bool { return canHold("", of, depth+1) })
	}
	// By their schema these can hold anything, but the service stores and shows them openly.
	open := []string{"create_schedule params", "update_schedule params", "set_preferences value"}
	checked := 0
	for _, methods := range d.Paths {
		for _, op := range methods {
			body := deref(op.RequestBody.Content["application/json"].Schema)
			for _, of := range slices.Concat([]schema{body}, body.AnyOf, body.OneOf) {
				for name, field := range deref(of).Properties {
					if !canHold(name, field, 0) || slices.Contains(open, op.ID+" "+name) {
						continue
					}
					checked++
					if !slices.Contains(secretFields, name) && !slices.Contains(mixedFields, name) {
						t.Errorf("%s takes %s from the command line, which can hold a secret", op.ID, name)
					}
				}
			}
		}
	}
	if checked < 15 {
		t.Errorf("the document has %d fields that can hold secrets", checked)
	}
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
		if s.Items != nil {
			return has(*s.Items, path)
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
					if v.rows != "" {
						c.Path = v.rows + "." + c.Path
					}
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

// Storages such as local have other content on each node, so the service refuses requests on their volumes without a node.
func TestExamples_OfVolumesNameTheNode(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, n := range nouns {
		for _, v := range n.verbs {
			if v.op != "download_storage_content" && v.op != "delete_storage_volume" {
				continue
			}
			checked++
			if !slices.Contains(shellWords(v.example), "--node") {
				t.Errorf("hostler %s %s %s", n.name, v.name, v.example)
			}
		}
	}
	if checked != 2 {
		t.Errorf("%d verbs were checked", checked)
	}
}

func TestTable_LeavesOutFieldsThatTheServiceIgnores(t *testing.T) {
	t.Parallel()
	for i := range api.Operations {
		for _, field := range api.Operations[i].Body {
			if field.About == "Ignored" {
				t.Errorf("%s: %s", api.Operations[i].ID, field.Name)
			}
		}
	}
	for _, field := range api.Find("set_team_member").Body {
		if slices.Contains([]string{"cidr", "comment", "nomatch"}, field.Name) {
			t.Errorf("set_team_member has the field %s", field.Name)
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

func TestStartLower(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "Name of the host": "name of the host", "A kind": "a kind", "SHA-256 of it": "SHA-256 of it", "VMID; unused": "VMID; unused",
		"ID of the team": "ID of the team", "false clears": "false clears",
	} {
		if got := startLower(text); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}
