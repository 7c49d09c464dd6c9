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
