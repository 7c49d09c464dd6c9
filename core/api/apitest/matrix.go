package apitest

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hostler/hostler/core/identity"
)

var placeholder = regexp.MustCompile(`\{[^}]+\}`)

// Matrix holds every operation of the document against every kind of caller that must not get in: nobody and a false
// key get 401 on all that is not public, each role below the declared one gets 403, whatever the path names. Paths that
// do not exist are 401 for nobody as well.
func (a *API) Matrix(t *testing.T) {
	t.Helper()
	for _, o := range a.document(t).operations {
		t.Run(o.ID, func(t *testing.T) {
			for _, complaint := range a.admissions(t, o) {
				t.Error(complaint)
			}
		})
	}
	t.Run("unknown paths", func(t *testing.T) {
		for _, target := range []string{"/api/v1/nothing", "/api/v1/", "/api/v2/hosts", "/api/v1/../v1/x"} {
			answer, err := a.Do(t.Context(), a.request("GET", target, "", nil), nil)
			if err != nil || answer.Status != 401 {
				t.Errorf("%s as nobody: %+v, %v", target, answer, err)
			}
		}
	})
}

// admissions says which callers an operation treats wrongly.
func (a *API) admissions(t testing.TB, o *operation) (complaints []string) {
	target := placeholder.ReplaceAllString(o.path, "1")
	expect := func(as *Caller, headers map[string]string, status int, code string) {
		answer, err := a.Do(t.Context(), a.request(o.method, target, "", headers), as)
		if err != nil {
			complaints = append(complaints, err.Error())
		} else if answer.Status != status || answer.Problem() != code {
			complaints = append(complaints, fmt.Sprintf("%s %s as %s %v: %d %q, want %d %q", o.method, target, as, headers, answer.Status, answer.Problem(), status, code))
		}
	}
	if o.public() {
		answer, err := a.Do(t.Context(), a.request(o.method, target, "", nil), nil)
		if err != nil || answer.Problem() == "unauthenticated" {
			complaints = append(complaints, fmt.Sprintf("%s %s is public and asks for a log-in (%v)", o.method, target, err))
		}
		return complaints
	}
	expect(nil, nil, 401, "unauthenticated")
	expect(nil, map[string]string{"Authorization": "Bearer svc_false"}, 401, "unauthenticated")
	expect(nil, map[string]string{"Cookie": "service_session=false"}, 401, "unauthenticated")
	for role := identity.NoRole; role < o.role(t); role++ {
		expect(&Caller{Role: role}, nil, 403, "forbidden")
	}
	return complaints
}
