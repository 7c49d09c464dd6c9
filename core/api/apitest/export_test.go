package apitest

import "testing"

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

// MatrixComplaints is Matrix on the operation of that id, with its complaints instead of failures.
func (a *API) MatrixComplaints(t testing.TB, id string) []string {
	for _, o := range a.document(t).operations {
		if o.ID == id {
			return a.admissions(t, o)
		}
	}
	return nil
}
