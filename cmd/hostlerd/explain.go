package main

import (
	"errors"
	"strings"

	"github.com/hostler/hostler/core/problem"
)

// explain turns a problem of the API into an error for a person at a terminal:
// its faults if it has any, otherwise its detail, without the code. Internal
// errors and other errors are returned unchanged.
func explain(err error) error {
	var p *problem.Error
	if !errors.As(err, &p) || p.Code == problem.CodeInternal {
		return err
	}
	if len(p.Faults) == 0 {
		return errors.New(p.Detail)
	}
	faults := make([]string, len(p.Faults))
	for i, fault := range p.Faults {
		faults[i] = fault.Msg
	}
	return errors.New(strings.Join(faults, "; "))
}
