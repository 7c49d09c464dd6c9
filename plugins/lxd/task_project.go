package lxd

import (
	"sync"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
)

// knownOperations is how many operations are remembered with their projects.
const knownOperations = 1000

// operationKey is an operation at a server.
type operationKey struct{ address, id string }

// operationProjects remembers the projects of the last operations that this
// process started. LXD 5.0 does not report the project of an operation, and
// events are read per project.
type operationProjects struct {
	mu      sync.Mutex
	project map[operationKey]string
	order   []operationKey // the oldest is at next once it is full
	next    int
}

// newOperationProjects returns an empty memory of operations and their
// projects.
func newOperationProjects() *operationProjects {
	return &operationProjects{project: map[operationKey]string{}}
}

// remember keeps the project of an operation in the place of the oldest.
func (o *operationProjects) remember(key operationKey, project string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.project[key]; known {
		return
	}
	o.project[key] = project
	if len(o.order) < knownOperations {
		o.order = append(o.order, key)
		return
	}
	delete(o.project, o.order[o.next])
	o.order[o.next] = key
	o.next = (o.next + 1) % knownOperations
}

// of returns the project of an operation. known is false if neither this
// process nor the server knows it.
func (o *operationProjects) of(address string, op *lxdapi.Operation) (project string, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if project, known = o.project[operationKey{address, op.ID}]; !known && len(op.Instances) > 0 {
		project = op.Instances[0].Project
		known = project != ""
	}
	return project, known
}
