package pvesim

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim/schema"
	"github.com/hostler/hostler/plugins/pve/pvetest"
)

// wordsOfChecks begin the texts that the check of parameters writes. Other texts of a 400 come from what an endpoint does.
var wordsOfChecks = []string{"invalid format - ", "type check (", "value ", "property is missing and", "property is not defined"}

// TestParametersOfRecordedRequests checks the parameters of every recorded request, of endpoints that are not simulated too: what
// was taken must pass, and what was refused must be refused with the same texts.
func TestParametersOfRecordedRequests(t *testing.T) {
	t.Parallel()
	all := []*endpoint{}
	for _, key := range schema.Known() {
		method, path, _ := strings.Cut(key, " ")
		all = append(all, serve(method, path, nil))
	}
	known := newRouter(all)
	checked, refused, unlike := 0, 0, 0
	for _, e := range pvetest.Exchanges(t) {
		path, _ := url.PathUnescape(strings.Split(e.Path, "?")[0])
		endpoint, inPath := known.find(e.Method, path)
		if endpoint == nil || e.Status != 200 && e.Status != 400 || strings.HasPrefix(string(e.Request.Params), `"`) {
			continue
		}
		v, err := recordedValues(e)
		if err != nil {
			continue // the body itself is broken
		}
		for name, text := range inPath {
			if sent, again := v[name]; again && sent.text != text {
				v = nil
				break
			}
			v[name] = paramValue{text: text}
		}
		if v == nil {
			continue
		}
		checked++
		var body struct{ Errors map[string]string }
		_ = json.Unmarshal(e.Response, &body) // a 200 has no errors
		want := maps.Clone(body.Errors)
		maps.DeleteFunc(want, func(_, text string) bool {
			return !slices.ContainsFunc(wordsOfChecks, func(w string) bool { return strings.HasPrefix(text, w) })
		})
		if len(want) > 0 {
			refused++
		}
		var have map[string]string
		if err := verify(endpoint, v, release{9, 2, 11}); err != nil {
			have = err.errors
		}
		if !maps.Equal(have, want) && unlikeTheSchema[e.Case] == "" {
			t.Errorf("%s %s %s (%s):\n\thave %q\n\twant %q", e.Method, e.Path, e.Request.Params, e.Case, have, want)
		}
		if !maps.Equal(have, want) {
			unlike++
		}
	}
	t.Logf("%d requests were checked, of which %d are refused; %d are unlike the schema", checked, refused, unlike)
	if checked < 650 || refused < 70 || unlike != len(unlikeTheSchema) {
		t.Errorf("%d checked, %d refused, %d unlike", checked, refused, unlike)
	}
}

// unlikeTheSchema are requests whose parameters are judged otherwise, each with the reason.
var unlikeTheSchema = map[string]string{
	"POST__cluster_backup__bad_schedule": "calendar events are not checked, and the recorded text is not the real server's",
}

// recordedValues reads the parameters of a recorded request as the server does.
func recordedValues(e pvetest.Exchange) (values, *apiError) {
	target := e.Request.URL
	if target == "" {
		target = "/"
	}
	var params map[string]any
	_ = json.Unmarshal(e.Request.Params, &params) // null, or a raw body
	body, kind := "", ""
	switch e.Request.Encoding {
	case "json":
		body, kind = string(e.Request.Params), "application/json"
	case "form":
		form := url.Values{}
		for k, p := range params {
			text, isText := p.(string)
			if !isText {
				raw, _ := json.Marshal(p)
				text = string(raw)
			}
			form.Set(k, text)
		}
		body, kind = form.Encode(), "application/x-www-form-urlencoded"
	}
	r := httptest.NewRequest(e.Method, target, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	return readValues(r)
}
