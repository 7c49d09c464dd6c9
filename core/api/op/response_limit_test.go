package op_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
)

type longEntry struct {
	Text string `json:"text" example:"long"`
}

// An answer that is larger than any may be is a 422 that says what to do, and nothing of it is sent.
func TestAnswerThatIsTooLarge(t *testing.T) {
	t.Parallel()
	s := newSample(t, sampleConfig{})
	text := strings.Repeat("x", 1<<20)
	list := func(n int) []longEntry {
		all := make([]longEntry, n)
		for i := range all {
			all[i].Text = text
		}
		return all
	}
	declare := func(id string) op.Spec {
		return op.Spec{ID: id, Summary: "List long entries", Tag: "Samples", Role: identity.Viewer}
	}
	op.Get(s.API, "/api/v1/long-pages", func(_ context.Context, in *struct{ op.Page }) (*op.List[longEntry], error) {
		return &op.List[longEntry]{Total: 500, Body: list(in.Limit())}, nil
	}, declare("list_long_pages"))
	op.Get(s.API, "/api/v1/long-lists", func(context.Context, *struct{}) (*op.List[longEntry], error) {
		return &op.List[longEntry]{Body: list(op.MaxResponse >> 20)}, nil
	}, declare("list_long_lists"))
	op.Get(s.API, "/api/v1/long-searches", func(context.Context, *struct {
		op.Page
		Host int64  `query:"host"`
		Q    string `query:"q"`
	}) (*op.List[longEntry], error) {
		return nil, &db.ListTooLarge{}
	}, declare("search_long_things"))
	op.Get(s.API, "/api/v1/long-things", func(context.Context, *struct{}) (*op.Body[longEntry], error) {
		return &op.Body[longEntry]{Body: longEntry{strings.Repeat(text, op.MaxResponse>>20)}}, nil
	}, declare("get_long_thing"))
	op.Get(s.API, "/api/v1/long-rows", func(context.Context, *struct{ op.Page }) (*op.List[longEntry], error) {
		return nil, &db.ListTooLarge{Fits: 12}
	}, declare("list_long_rows"))
	for path, want := range map[string]string{
		"/api/v1/long-pages?per_page=500": `{"loc":["query","per_page"],` +
			`"msg":"the page would exceed 64 MiB; request at most 63 entries per page","type":"answer_too_large"}`,
		"/api/v1/long-lists": `{"loc":["query"],` +
			`"msg":"the response would exceed 64 MiB; this list has no filters, so request each object by its ID","type":"answer_too_large"}`,
		"/api/v1/long-things": `"msg":"the response would exceed 64 MiB; this list has no filters`,
		"/api/v1/long-searches": `{"loc":["query"],` +
			`"msg":"the response would exceed 32 MiB; narrow the list with one of these parameters: host, q","type":"answer_too_large"}`,
		"/api/v1/long-rows": `"msg":"the page would exceed 32 MiB; request at most 12 entries per page"`,
	} {
		w := s.call("GET", path, "", as("viewer")...)
		body := w.Body.String()
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(body, want) || w.Header().Get("X-Total-Count") != "" {
			t.Errorf("%s: %d, %v, %.500s", path, w.Code, w.Header(), body)
		}
	}
	w := s.call("GET", "/api/v1/long-pages?per_page=2", "", as("viewer")...)
	if w.Code != http.StatusOK || w.Body.Len() != 2*(len(text)+11)+4 {
		t.Errorf("a page that is not too large: %d, %d bytes", w.Code, w.Body.Len())
	}
}
