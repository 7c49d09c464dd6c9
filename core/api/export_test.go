package api

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
)

// Members is a JSON object that keeps its order.
type Members []Member

// Member is one member of a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// UnmarshalJSON reads the members one by one.
func (m *Members) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		*m = append(*m, Member{name.(string), value})
	}
	return nil
}

// Resource is a resource's folder and the ids of its operations.
type Resource struct {
	Folder     string
	Operations []string
}

// Resources lists them in the order of registration.
func Resources() (all []Resource) {
	a := op.New(op.Config{Router: route.New(), Fallback: http.NotFoundHandler()})
	for _, r := range resources {
		before := len(a.Operations())
		r.register(a, Deps{})
		of := Resource{Folder: r.folder}
		for _, o := range a.Operations()[before:] {
			of.Operations = append(of.Operations, o.Spec.ID)
		}
		all = append(all, of)
	}
	return all
}
