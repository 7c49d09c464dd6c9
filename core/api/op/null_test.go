package op_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
)

type nullIn struct {
	Body struct {
		Always   *string               `json:"always"`
		Sometime *string               `json:"sometime,omitempty"`
		Either   *string               `json:"either,omitempty" nullable:"true"`
		Kind     op.Optional[string]   `json:"kind,omitzero" enum:"a,b"`
		Kept     op.Optional[string]   `json:"kept,omitzero" nullable:"false"`
		Inner    op.Optional[nullPart] `json:"inner,omitzero"`
		Parts    []nullPart            `json:"parts,omitempty"`
		Named    map[string]nullPart   `json:"named,omitempty"`
		Any      op.IgnoredValue       `json:"any,omitzero"`
		Raw      op.Object             `json:"raw,omitempty" nullable:"true"`
	}
}

type nullPart struct {
	Size int        `json:"size,omitempty"`
	At   *time.Time `json:"at,omitempty"`
}

type nullOut struct {
	Part   *nullPart  `json:"part"`
	Absent *nullPart  `json:"absent,omitempty"`
	Plain  nullPart   `json:"plain"`
	Kind   *string    `json:"kind" enum:"a,b"`
	Time   *time.Time `json:"time"`
	Raw    *op.Object `json:"raw"`
}

func nullAPI(t *testing.T) *op.API {
	return lone(t, op.Config{}, func(a *op.API) {
		op.Put(a, "/x", func(context.Context, *nullIn) (*op.Body[nullOut], error) { return &op.Body[nullOut]{}, nil },
			op.Spec{ID: "x", Summary: "x", Tag: "x", Role: identity.Viewer})
		op.Delete(a, "/y", func(context.Context, *struct {
			Body *struct {
				Confirm string `json:"confirm,omitempty"`
			}
		}) (*op.Empty, error) {
			return nil, nil
		}, op.Spec{ID: "y", Summary: "y", Tag: "y", Public: true, Role: identity.NoRole})
	})
}

func TestDocumentSaysWhatMayBeNull(t *testing.T) {
	t.Parallel()
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]json.RawMessage }
		}
		Paths map[string]map[string]struct{ RequestBody json.RawMessage }
	}
	if err := json.Unmarshal(nullAPI(t).Document(), &doc); err != nil {
		t.Fatal(err)
	}
	ref := func(name string) string { return `"$ref":"#/components/schemas/` + name + `"` }
	for at, pieces := range map[string][]string{
		"NullOut.part": {`"anyOf":[{` + ref("NullPart") + `},{"type":"null"}]`}, "NullOut.absent": {"{" + ref("NullPart")},
		"NullOut.plain": {"{" + ref("NullPart")},
		"NullOut.kind":  {`"anyOf":[{"type":"string","enum":["a","b"]},{"type":"null"}]`}, "NullOut.time": {`"type":["string","null"]`},
		"NullOut.raw": {`"type":["object","null"]`},
		"NullPart.at": {`"type":"string"`}, "XRequest.always": {`"type":["string","null"]`}, "XRequest.sometime": {`"type":"string"`},
		"XRequest.either": {`"type":["string","null"]`}, "XRequest.kind": {`"enum":["a","b"]},{"type":"null"}`},
		"XRequest.kept":  {`"type":"string"`},
		"XRequest.inner": {ref("NullPart") + `},{"type":"null"}`}, "XRequest.raw": {`"type":["object","null"]`},
	} {
		schema, property, _ := strings.Cut(at, ".")
		got := strings.NewReplacer(" ", "", "\n", "").Replace(string(doc.Components.Schemas[schema].Properties[property]))
		for _, piece := range pieces {
			if !strings.Contains(got, piece) {
				t.Errorf("%s is %s, want %s", at, got, piece)
			}
		}
	}
	if body := string(doc.Paths["/y"]["delete"].RequestBody); !strings.Contains(body, `"null"`) {
		t.Errorf("a body that may be left out may be null: %s", body)
	}
	if body := string(doc.Paths["/x"]["put"].RequestBody); strings.Contains(body, `"null"`) {
		t.Errorf("a body that must be given may not be null: %s", body)
	}
}

func TestNullIsTakenWhereItIsDeclared(t *testing.T) {
	t.Parallel()
	a := nullAPI(t)
	for body, want := range map[string]string{
		`{"always":null,"either":null,"kind":null,"inner":null,"any":null,"raw":null}`: "",
		`{"always":"a","any":{"b":[null]},"raw":{"c":null}}`:                           "",
		`{"always":"null"}`:                                   "",
		`{"always":"a","sometime":null}`:                      "body/sometime null_forbidden",
		`{"always":"a","kept":null}`:                          "body/kept null_forbidden",
		`{"always":"a","inner":{"at":null}}`:                  "body/inner/at null_forbidden",
		`{"always":"a","parts":[{},{"size":null,"at":null}]}`: "body/parts/1/at null_forbidden, body/parts/1/size null_forbidden",
		`{"always":"a","named":{"x.y":{"size":null}}}`:        "body/named/x.y/size null_forbidden",
		`{"always":"a","parts":null,"named":null}`:            "body/named null_forbidden, body/parts null_forbidden",
		`{"always":"a","parts":[null]}`:                       "body/parts/0 dict_type",
		`{"sometime":null}`:                                   "body/always missing, body/sometime null_forbidden",
		`{"always":"a","sometime":null,"more":null}`:          "body/more extra_forbidden, body/sometime null_forbidden",
	} {
		s := &sample{API: a}
		w := s.call("PUT", "/x", body, as("owner")...)
		var got []string
		if w.Code != 200 {
			got = faults(t, w)
		}
		if slices.Sort(got); strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestManyNullsAreBounded(t *testing.T) {
	t.Parallel()
	s := &sample{API: nullAPI(t)}
	body := `{"always":"a","parts":[` + strings.TrimSuffix(strings.Repeat(`{"size":null},`, 5000), ",") + `]}`
	if w := s.call("PUT", "/x", body, as("owner")...); w.Code != 422 || w.Body.Len() > 32<<10 {
		t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
	}
}

func TestShapeRefusesNull(t *testing.T) {
	t.Parallel()
	s := op.NewShape("sample.act", struct {
		Mode *string `json:"mode,omitempty" enum:"stop,snapshot"`
		Note *string `json:"note,omitempty" nullable:"true" enum:"a,b"`
	}{})
	if found := s.Faults([]byte(`{"mode":null,"note":null}`), "body.params"); len(found) != 1 || found[0].Type != "null_forbidden" ||
		len(found[0].Loc) != 3 {
		t.Errorf("%+v", found)
	}
	if document := string(s.Document()); !strings.Contains(document, `"anyOf":[{"type":"string","enum":["a","b"]},{"type":"null"}]`) {
		t.Error(document)
	}
}

type renewResponse struct {
	N int `json:"n"`
}

func TestSchemaIsNotNamedLikeAGeneratedOne(t *testing.T) {
	t.Parallel()
	a := lone(t, op.Config{}, func(a *op.API) {
		op.Post(a, "/x", func(context.Context, *struct{}) (*op.Body[renewResponse], error) { return nil, nil },
			op.Spec{ID: "renew", Summary: "x", Tag: "x", Public: true})
		op.Post(a, "/y", func(context.Context, *struct{}) (*struct{ Body struct{ N int } }, error) { return nil, nil },
			op.Spec{ID: "try_it", Summary: "x", Tag: "x", Public: true})
	})
	text := string(a.Document())
	for _, name := range []string{`"RenewResponseData": {`, `"TryItResult": {`} {
		if !strings.Contains(text, name) {
			t.Errorf("there is no schema %s", name)
		}
	}
	if strings.Contains(text, `"RenewResponse"`) || strings.Contains(text, `"TryItResponse"`) {
		t.Error("a schema is called like what a generator makes of an operation")
	}
}
