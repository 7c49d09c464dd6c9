package schedule

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
)

// Kind is a kind of job that a schedule may ask for. Only kinds that need no typed confirmation are one.
type Kind struct {
	// Name is that of the job's kind, such as "vm.start".
	Name string
	// Summary is one short sentence for people.
	Summary string
	// Scope is the resource that an API key must be allowed to write, such as "vms", before a schedule of this kind can be
	// written with it: the schedule runs with all the rights of the key's user. Empty for kinds that need no more than
	// the schedules' own scope.
	Scope string
	// Params is a zero value of the struct of the parameters. The API makes their JSON schema from its tags, which are
	// those of any request body, and holds what is written against it.
	Params any
	// Refuse says in words why parameters that fit the schema are not written, at a field of them; empty where they are. Schedules that have
	// such parameters from before go on. Nil refuses nothing.
	Refuse func(params json.RawMessage) (field, why string)
	// Prepare checks that the context's caller may have this done with these parameters now, and returns what enqueues
	// it. It runs outside any transaction. A context without a caller is the service itself, which runs the schedules
	// that came with it. The problems are those of the operation that does the same: forbidden and entitlement_required
	// when the caller may not, not_found when the thing is gone or not the caller's to see, invalid for parameters that
	// do not fit.
	Prepare func(ctx context.Context, params json.RawMessage) (Enqueue, error)
}

// Enqueue writes the job into the transaction, and no audit row: that is its caller's to write. It is called at most once for
// each Prepare, with a context whose caller is who asked for this run, and without one when the schedule's time has come.
type Enqueue func(ctx context.Context, tx *db.Tx) (*job.Job, error)

// NewKind makes a kind from a function on the decoded parameters. Parameters with unknown keys or of the wrong type are a
// problem of code invalid at body.params.
func NewKind[P any](name, summary string, prepare func(ctx context.Context, params P) (Enqueue, error)) Kind {
	var zero P
	return Kind{Name: name, Summary: summary, Params: zero, Prepare: func(ctx context.Context, raw json.RawMessage) (Enqueue, error) {
		params, err := decode[P](raw)
		if err != nil {
			return nil, problem.InvalidField(err.Error(), "value_error", "body", "params")
		}
		return prepare(ctx, params)
	}}
}

func decode[P any](raw json.RawMessage) (params P, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&params); err != nil {
		// The library's message may repeat a value.
		return params, errors.New("is not valid for this kind of job")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return params, errors.New("is more than one JSON value")
	}
	return params, nil
}
