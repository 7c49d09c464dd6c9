package table_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/hostler/hostler/client/api/generate/table"
)

// The table of operations and the types are those of the document: after a change of the API, go generate ./client/... makes them anew.
func TestTableIsOfTheDocument(t *testing.T) {
	t.Parallel()
	document, err := table.Document("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	want, err := table.Write(document)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../operations.gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the table of operations is not that of the document: run go generate ./client/...")
	}
	_, sum, err := table.Part(document)
	if err != nil {
		t.Fatal(err)
	}
	models, err := os.ReadFile("../../models.gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(models), table.SumLine(sum)) {
		t.Error("the types are not those of the document: run go generate ./client/...")
	}
}

// A field's kind, what it may be and whether it may be null are read out of all forms of schemas that the document has.
func TestFields(t *testing.T) {
	t.Parallel()
	source, err := table.Write([]byte(`{"paths":{"/x/{id}":{"post":{"operationId":"make_x","summary":"Make","x-plan":true,
	"parameters":[{"name":"Idempotency-Key","in":"header"},{"name":"plan","in":"query"},
	{"name":"host","in":"query","schema":{"type":"integer"}}],
	"requestBody":{"content":{"application/json":{"schema":{"anyOf":[{"$ref":"#/components/schemas/In"},{"type":"null"}]}}}},
	"responses":{"202":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Out"}}}}}}}},
	"components":{"schemas":{"Out":{},"In":{"required":["name"],"properties":{"confirm":{"type":["string","null"]},
	"name":{"type":"string","description":"What it is called. And more."},
	"until":{"type":"string","format":"date-time"},"word":{"type":"string","description":"Letters, . and -. And more."},
	"size":{"type":["integer","null"]},"rate":{"type":"number"},
	"on":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},
	"how":{"anyOf":[{"type":"string","enum":["a","b"]},{"type":"null"}]},
	"config":{"type":"object"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(source)), " ")
	for _, part := range []string{
		`ID: "make_x", Method: "POST", Path: "/x/{id}"`, `Answer: "Out"`, "Job: true", "Plan: true", "Key: true", "Confirm: true",
		`Query: []Field{ {Name: "host", Kind: Whole}, }`, `{Name: "config", Kind: JSON}`, `{Name: "rate", Kind: Number}`,
		`{Name: "how", Kind: Text, Values: []string{ "a", "b", }, Null: true}`, `About: "What it is called", Required: true}`,
		`{Name: "size", Kind: Whole, Null: true}`, `{Name: "until", Kind: Time}`,
		`About: "Letters, . and -"}`, `{Name: "on", Kind: Switch}`, `{Name: "tags", Kind: Texts}`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the table lacks %s: %s", part, text)
		}
	}
}
