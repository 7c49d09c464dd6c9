package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/internal/waittest"
)

// A job stands for the row of the audit log that started it. Every other row is listed, even one about a job.
func TestActivityOfRealOperations(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.furnish()
	waittest.Until(t, "all jobs have ended", func() bool { return h.id("SELECT count(*) FROM jobs WHERE finished_at IS NULL") == 0 })
	h.Run(t,
		apitest.Scenario{Name: "refused", Method: "POST", URL: fmt.Sprintf("/api/v1/vms/%d/stop", h.vm), As: apitest.Viewer, Status: 403,
			Error: "forbidden"},
		apitest.Scenario{Name: "cancel", Method: "POST", URL: fmt.Sprintf("/api/v1/jobs/%d/cancel", h.job), As: apitest.Owner, Status: 409,
			Error: "job_finished"},
		apitest.Scenario{Name: "settings", Method: "PATCH", URL: "/api/v1/settings", Body: `{"jobs.keep_days": 5}`, As: apitest.Owner,
			Status: 200},
		apitest.Scenario{Name: "feed", Method: "GET", URL: "/api/v1/cluster/activity?limit=100", As: apitest.Owner, Status: 200,
			After: func(t *testing.T, answer *apitest.Response) {
				var feed []struct{ Kind, Title string }
				if err := json.Unmarshal(answer.Body, &feed); err != nil {
					t.Fatal(err)
				}
				var told []string
				name := ""
				for _, e := range feed {
					told = append(told, e.Kind+" "+e.Title)
					if e.Kind == "job" {
						name = e.Title
					}
				}
				for _, want := range []string{"audit settings.update", "audit job.cancel " + name[len("vm.stop "):], "audit vm.stop", "job " + name,
					"audit app.adopt"} {
					if !slices.ContainsFunc(told, func(s string) bool { return s == want }) {
						t.Errorf("%q is not in %q", want, told)
					}
				}
				// The refused stop is told, the one that became a job is not.
				if n := len(slices.DeleteFunc(slices.Clone(told), func(s string) bool { return !strings.HasPrefix(s, "audit vm.stop") })); n != 1 {
					t.Errorf("%d rows of the audit log for two stops in %q, want that of the refused one", n, told)
				}
			}},
	)
}
