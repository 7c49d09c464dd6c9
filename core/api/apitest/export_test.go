package apitest

import (
	"net/http"
	"testing"
)

// GarbageComplaints is Garbage on the operation of that id, with its complaints instead of failures.
func (a *API) GarbageComplaints(t testing.TB, id string, config GarbageConfig) []string {
	d := a.document(t)
	for i, o := range d.operations {
		if o.ID == id {
			return a.garbage(t, d, i, config, map[int]int{})
		}
	}
	return nil
}

// MatrixComplaints is MatrixWith on the operation of that id, with its complaints instead of failures.
func (a *API) MatrixComplaints(t testing.TB, id string, config MatrixConfig) (complaints []string) {
	if config.Columns == nil {
		config.Columns = a.plainColumns()
	}
	m := &matrix{API: a, config: config}
	for _, o := range a.document(t).operations {
		for i := range config.Columns {
			if o.ID == id {
				complaints = append(complaints, m.cell(t.Context(), &config.Columns[i], o)...)
			}
		}
	}
	return complaints
}

// ContractComplaint is what a document has against an answer to GET path; nil for nothing.
func ContractComplaint(t testing.TB, document, path string, status int, media, body string) error {
	t.Helper()
	c, err := newContract([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return c.check(http.MethodGet, path, &Response{Status: status, Header: http.Header{"Content-Type": {media}}, Body: []byte(body)})
}

// NullComplaints is what Nulls has against each place of an operation's body.
func (a *API) NullComplaints(t *testing.T, id string) (complaints []string) {
	d := a.document(t)
	for _, o := range d.operations {
		if o.ID != id {
			continue
		}
		for _, at := range d.places(o.body(), nil, 0) {
			if complaint := a.null(t, d, o, at, NullsConfig{As: Owner}); complaint != "" {
				complaints = append(complaints, complaint)
			}
		}
	}
	return complaints
}
