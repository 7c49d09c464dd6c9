package op_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/op"
)

func TestShape(t *testing.T) {
	t.Parallel()
	type disk struct {
		Size int `json:"size" minimum:"1"`
	}
	s := op.NewShape("sample.act", struct {
		Name  string `json:"name" maxLength:"4"`
		Mode  string `json:"mode,omitempty" enum:"stop,snapshot"`
		Disks []disk `json:"disks,omitempty" maxItems:"2"`
	}{})
	for object, want := range map[string]string{
		`{"name":"a"}`: "", `{"name":"a","mode":"stop","disks":[{"size":1}]}`: "",
		`{}`: "body/params/name missing", `{"name":"CANARY99","mode":"CANARY99"}`: "body/params/mode enum, body/params/name too_long",
		`{"name":"a","disks":[{"size":1},{"size":0,"x":1}]}`: "body/params/disks/1/size greater_than_equal, body/params/disks/1/x " +
			"extra_forbidden",
		`{"name":"a","disks":[{"size":1.0}]}`: "body/params/disks/0/size int_type", `[]`: "body/params dict_type",
		`null`: "body/params dict_type", `{`: "body/params json_invalid",
	} {
		var got []string
		for _, f := range s.Faults([]byte(object), "body.params") {
			got = append(got, strings.ReplaceAll(strings.Trim(fmt.Sprint(f.Loc), "[]"), " ", "/")+" "+f.Type)
			if strings.Contains(fmt.Sprint(f), "CANARY99") {
				t.Errorf("%s: the value is in %+v", object, f)
			}
		}
		if slices.Sort(got); strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", object, got, want)
		}
	}
	document := string(s.Document())
	for _, piece := range []string{`"$defs":{"Disk":`, `"$ref":"#/$defs/Disk"`, `"required":["name"]`, `"additionalProperties":false`} {
		if !strings.Contains(document, piece) {
			t.Errorf("the document lacks %s: %s", piece, document)
		}
	}
	if empty := op.NewShape("none", struct{}{}); len(empty.Faults([]byte(`{}`), "body.params")) != 0 ||
		len(empty.Faults([]byte(`{"a":1}`), "body.params")) != 1 {
		t.Error("a shape without fields")
	}
}
