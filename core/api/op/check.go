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
		return fmt.Errorf("it needs %s, but its resource has no host", s.Needs)
	case s.Needs != "" && !slices.Contains(endpoint.Capabilities(), s.Needs):
		return fmt.Errorf("it needs %s, which is not a capability", s.Needs)
	case s.Confirm.When == "" && named:
		return errors.New("it has a confirmation field or phrase but never requires confirmation")
	case s.Confirm.When != "" && (!named || s.Confirm.Field != "" && s.Confirm.Phrase != ""):
		return errors.New("confirmation must use either a field or a phrase")
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
		return fmt.Errorf("%s changes something but declares no audit action", spec.ID)
	case o.Method == http.MethodGet && spec.Audit.Action != "" && !o.Download && !o.Socket:
		return fmt.Errorf("%s only reads but declares an audit action", spec.ID)
	case o.makes() && !o.takesIdempotencyKey():
		return fmt.Errorf("%s creates a job or an object but cannot rebuild its response: declare Recall", spec.ID)
	case o.takesIdempotencyKey() && !o.Retry && (o.Method != http.MethodPost || spec.Public || spec.Audit.Action == ""):
		return fmt.Errorf("%s declares Recall but is not a POST of an authenticated caller that changes something", spec.ID)
	case spec.Plan && !slices.ContainsFunc(o.params, func(p *huma.Param) bool { return p.In == "query" && p.Name == "plan" }):
		return fmt.Errorf("%s declares a plan but has no query parameter plan", spec.ID)
	case spec.ReadOnly && o.Method == http.MethodGet:
		return fmt.Errorf("%s is a GET but declares ReadOnly", spec.ID)
	case spec.Public && (spec.Role != identity.NoRole || spec.On != Instance || spec.Scope != ""):
		return fmt.Errorf("%s is public but declares a role, a resource or a scope", spec.ID)
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
