package search

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]term{
		"":                            nil,
		"  \t ":                       nil,
		"web":                         {{value: "web"}},
		"Web  PROD web":               {{value: "web"}, {value: "prod"}},
		"tag:Prod STATUS:running":     {{field: "tag", value: "prod"}, {field: "status", value: "running"}},
		"-tag:test -old":              {{field: "tag", value: "test", not: true}, {value: "old", not: true}},
		`team:"web shop" "is:x" a`:    {{field: "team", value: "web shop"}, {value: "is:x"}, {value: "a"}},
		`"open end`:                   {{value: "open end"}},
		`""`:                          nil,
		"tag: - status:":              nil,
		"tag:prod:x":                  {{field: "tag", value: "prod:x"}},
		"fe80::1 local:iso/x http://": {{value: "fe80::1"}, {value: "local:iso/x"}, {value: "http://"}},
		"ip:2001:db8::7":              {{field: "ip", value: "2001:db8::7"}},
		"a\x01b\x1fc":                 {{value: "a"}, {value: "b"}, {value: "c"}},
		`a"b c"`:                      {{value: `a"b`}, {value: `c"`}},
	} {
		if got, err := parse(query); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %+v %v", query, got, err)
		}
	}
	if _, err := parse("a b c d e f g h i j k l"); err != nil {
		t.Error(err)
	}
	if _, err := parse("a b c d e f g h i j k l m"); err == nil {
		t.Error("13 terms are taken")
	}
}

// Every field that is named has a place in some source, and no source has one that is not.
func TestFields(t *testing.T) {
	t.Parallel()
	for _, field := range Fields {
		if field != fieldIs && !slices.ContainsFunc(sources, func(s source) bool { return s.fields[field] != "" }) {
			t.Errorf("nothing has the field %s", field)
		}
	}
	for _, s := range sources {
		for field, condition := range s.fields {
			if !slices.Contains(Fields, field) || !strings.Contains(condition, "?") && !pieces.MatchString(condition) {
				t.Errorf("%s is %s", field, condition)
			}
		}
	}
}
