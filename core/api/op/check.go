package op

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/endpoint"
)

// judge returns what is wrong with the declaration of Needs and Confirm.
func (s *Spec) judge() error {
	named := s.Confirm.Field != "" || s.Confirm.Phrase != ""
	switch {
	case s.Needs != "" && s.On < Host:
		return fmt.Errorf("it needs %s and is on nothing that has a host", s.Needs)
	case s.Needs != "" && !slices.Contains(endpoint.Capabilities(), s.Needs):
		return fmt.Errorf("it needs %s, which is no capability", s.Needs)
	case s.Confirm.When == "" && named:
		return errors.New("it names a phrase and is never confirmed")
	case s.Confirm.When != "" && (!named || s.Confirm.Field != "" && s.Confirm.Phrase != ""):
		return errors.New("it is confirmed by either a field or a phrase")
	}
	return nil
}

// Check returns what is wrong with the declaration in addition to what
// registration refuses. A test runs it for the whole API.
func (o *Operation) Check() error {
	spec := &o.Spec
	writes := o.Method != http.MethodGet && !spec.ReadOnly && !spec.Public
	switch {
	case o.unlimited:
		return fmt.Errorf("%s takes a list without maxItems", spec.ID)
	case writes && spec.Audit.Action == "":
		return fmt.Errorf("%s changes something and declares no audit action", spec.ID)
	case o.Method == http.MethodGet && spec.Audit.Action != "" && !o.Download && !o.Socket:
		return fmt.Errorf("%s only reads and declares an audit action", spec.ID)
	case o.makes() && !o.takesIdempotencyKey():
		return fmt.Errorf("%s makes a job or a thing and cannot make its answer again: declare Recall", spec.ID)
	case o.takesIdempotencyKey() && !o.Retry && (o.Method != http.MethodPost || spec.Public || spec.Audit.Action == ""):
		return fmt.Errorf("%s declares Recall and is no POST of a known caller that changes something", spec.ID)
	case spec.Plan && !slices.ContainsFunc(o.params, func(p *huma.Param) bool { return p.In == "query" && p.Name == "plan" }):
		return fmt.Errorf("%s declares a plan and has no query parameter plan", spec.ID)
	case spec.ReadOnly && o.Method == http.MethodGet:
		return fmt.Errorf("%s is a GET and declares ReadOnly", spec.ID)
	case spec.Public && (spec.Role != identity.NoRole || spec.On != Instance || spec.Scope != ""):
		return fmt.Errorf("%s is public and declares a role, a place or a scope", spec.ID)
	case !spec.Public && spec.Role == identity.NoRole && !strings.HasPrefix(o.Path, "/api/v1/auth/") &&
		!strings.HasPrefix(o.Path, "/api/v1/api-keys"):
		return fmt.Errorf("%s declares no role; only operations on one's own account may", spec.ID)
	}
	for _, thing := range []On{Host, VM, App, Job} {
		if strings.Contains(o.Path, "{"+thing.param()+"}") && spec.On.resolved() != thing {
			return fmt.Errorf("%s has {%s} in its path but is not on it", spec.ID, thing.param())
		}
	}
	return nil
}
