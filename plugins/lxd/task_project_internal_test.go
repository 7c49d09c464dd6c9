package lxd

import (
	"fmt"
	"testing"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
)

// The projects of the last operations are known, and no more; the server's word counts for what is not remembered.
func TestOperationProjects(t *testing.T) {
	t.Parallel()
	projects := newOperationProjects()
	const address = "10.0.0.1:8443"
	for i := range knownOperations + 2 {
		for range 2 { // a server may give an id twice
			projects.remember(operationKey{address, fmt.Sprint(i)}, fmt.Sprint("p", i))
		}
	}
	if len(projects.project) != knownOperations || len(projects.order) != knownOperations {
		t.Errorf("%d and %d are kept", len(projects.project), len(projects.order))
	}
	told := []lxdapi.InstanceRef{{Project: "told", Name: "web1"}}
	for _, c := range []struct {
		address, id string
		instances   []lxdapi.InstanceRef
		project     string
		known       bool
	}{
		{address, "0", nil, "", false},
		{address, "1", []lxdapi.InstanceRef{{Name: "web1"}}, "", false},
		{address, "1", told, "told", true},
		{address, "2", told, "p2", true},
		{address, fmt.Sprint(knownOperations + 1), nil, fmt.Sprint("p", knownOperations+1), true},
		{"10.0.0.2:8443", "2", nil, "", false},
	} {
		project, known := projects.of(c.address, &lxdapi.Operation{ID: c.id, Instances: c.instances})
		if project != c.project || known != c.known {
			t.Errorf("%s of %s: %q, %v", c.id, c.address, project, known)
		}
	}
}
