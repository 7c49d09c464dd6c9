package appscript_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// What scripts do that update the app to 2.0.
const (
	newVersion = "echo 2.0 >/root/.version; echo two >/root/www/index.html; "
	works      = newVersion + "sh /root/start; "
)

var scenarios = []struct {
	slug, script string
	status, last string
	page, says   string
	// version of the app's script that is the newest afterwards.
	version int
}{
	{"works", `. "$(dirname -- "$0")/engine/lib.sh"; engine; clear; ` + works + `printf '\033[1;92mall \033[4mdone\033[0m\n'`, "succeeded",
		"updated 1.0 2.0 before-update-ID", "two", "updated from 1.0 to 2.0", 2},
	{"nothing", "echo it is new enough; echo all done", "succeeded", "nothing_to_do 1.0 1.0 none", "one", "still at version 1.0", 2},
	{"breaks", newVersion + `kill "$(cat /root/pid)"; echo all done`, "failed", "rolled_back 1.0 1.0 none", "one",
		"the script succeeded, but nothing answers at http://10.0.", 1},
	{"fails", works + "exit 3", "failed", "rolled_back 1.0 1.0 none", "one", "(exit status 3): The script says that it failed.", 1},
	{"unknown-code", works + "exit 201", "failed", "rolled_back 1.0 1.0 none", "one", "the script failed (exit status 201)", 1},
	{"human", "exit 75", "failed", "needs_human 1.0 1.0 none", "one", "Someone has to do a part of it.; nothing was changed", 1},
	{"half-human", newVersion + "exit 75", "failed", "rolled_back 1.0 1.0 none", "one", "Someone has to do a part of it.", 1},
	{"asks", works + `echo "which one?" >>"$HOSTLER_RUN/asked"; echo all done`, "failed", "rolled_back 1.0 1.0 none", "one",
		"needed something unpinned: which one?", 1},
	{"hangs", works + "sleep 1000", "failed", "rolled_back 1.0 1.0 none", "one", "the script did not end within 8s", 1},
	{"silent", works + "true", "failed", "rolled_back 1.0 1.0 none", "one", "without reporting success", 1},
	{"dies", works + "kill -KILL $$", "failed", "rolled_back 1.0 1.0 none", "one", "the script failed (exit status 137)", 1},
	{"no-way", newVersion + `kill "$(cat /root/pid)"; exit 1`, "failed", "needs_human 1.0 2.0 before-update-ID", "",
		"the container could not be rolled back (the storage says no): fix it manually, the snapshot before-update-ID from before is left",
		1},
	{"no-snapshot", works + "echo all done", "failed", "", "one", "no snapshot could be taken: the storage says no; nothing was run", 1},
	{"altered", works + "echo all done", "failed", "", "one",
		"is not the verified one; nothing was run; the copy from before no longer exists", 1},
	{"canceled", works + "echo on; sleep 1000", "canceled", "rolled_back 1.0 1.0 none", "one", "the script was stopped", 1},
	{"adopted", works + "echo all done", "succeeded", "updated 1.0 2.0 before-update-ID", "two", "updated from 1.0 to 2.0", 1},
	{"cut", "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.3; done; " + works + "echo all done", "succeeded",
		"updated 1.0 2.0 before-update-ID", "two", "line 8", 2},
}

func TestUpdates(t *testing.T) {
	t.Parallel()
	scripts := map[string]string{}
	for _, s := range scenarios {
		scripts[s.slug] = s.script
	}
	f := newFixture(t, scripts)
	f.set(func(_ context.Context, request string, id hypervisor.GuestID) error {
		if request == "roll-back" && id == f.apps["no-way"].ref.ID || request == "snapshot" && id == f.apps["no-snapshot"].ref.ID {
			return errRefused
		}
		return nil
	}, nil)
	for _, s := range scenarios {
		t.Run(s.slug, func(t *testing.T) {
			url := fmt.Sprintf("apps/%d/update", f.apps[s.slug].id)
			if s.slug == "works" {
				f.Expect(t, "GET", url, "", apitest.Viewer, 200, "", `"available":true`, `"given":false`, "inside the container of an app")
				f.Expect(t, "POST", url, "", apitest.Operator, 409, "consent_required", `"sum":"`,
					`"text":"These scripts will run on the host lab, as root inside`)
				f.Expect(t, "POST", url+"?plan=true", `{"consent":true}`, apitest.Operator, 200, "", "A snapshot of works is taken first",
					"Changed files of the entry itself: 1. Lines added: 1, removed: 1.")
			}
			if s.slug == "adopted" {
				f.Exec("DELETE FROM app_script_versions WHERE app_id = $1", f.apps[s.slug].id)
			}
			if s.slug == "altered" {
				f.Exec("UPDATE bundle_files SET data = data || 'x' WHERE sum = encode(sha256($1::bytea), 'hex')",
					"engine() { echo 'the engine of altered'; }\n")
			}
			id := f.ask(url, `{"consent":true}`)
			switch s.slug {
			case "canceled":
				waittest.Until(t, "the script is on", func() bool {
					return f.Value("SELECT count(*) FROM job_events WHERE job_id = $1 AND text = 'on'", id) == "1"
				})
				f.Expect(t, "POST", fmt.Sprintf("jobs/%d/cancel", id), "", apitest.Operator, 202, "")
			case "cut":
				for i := range 4 {
					waittest.Until(t, "a line is there", func() bool {
						return strings.Contains(f.Value("SELECT coalesce(string_agg(text, ' '), '') FROM job_events WHERE job_id = $1", id),
							fmt.Sprintf("line %d", 2*i+1))
					})
					f.machine.SSH.CloseConnections()
				}
			}
			transcript := f.ended(id, s.status)
			own := func(text string) string {
				return strings.ReplaceAll(text, "before-update-ID", fmt.Sprintf("before-update-%d", id))
			}
			if got := f.last(s.slug); got != own(s.last) && s.last != "" || s.last == "" && got != "none" {
				t.Errorf("what came of it is %q, want %q", got, own(s.last))
			}
			if !strings.Contains(transcript, own(s.says)) {
				t.Errorf("the transcript does not say %q:\n%s", own(s.says), transcript)
			}
			if got := f.page(s.slug); got != s.page {
				t.Errorf("the page says %q, want %q:\n%s", got, s.page, transcript)
			}
			if got := f.Value("SELECT max(number) FROM app_script_versions WHERE app_id = $1", f.apps[s.slug].id); got != fmt.Sprint(s.version) {
				t.Errorf("the version of the script is %s", got)
			}
			if left := f.inside(s.slug, "ls -A /var/lib/hostler/runs 2>/dev/null || true"); left != "" {
				t.Errorf("the container has %s", left)
			}
			switch s.slug {
			case "works":
				for _, want := range []string{"the engine of works", "cleared", "consented to by "} {
					if !strings.Contains(transcript, want) {
						t.Errorf("the transcript does not say %q:\n%s", want, transcript)
					}
				}
				f.Expect(t, "GET", url, "", apitest.Viewer, 200, "", `"reason":"current"`, `"outcome":"updated"`)
				// It may be run again, by the consent that is there; the older snapshot goes then, or its own, as nothing changes.
				again := f.ask(url, "")
				f.ended(again, "succeeded")
				if got := f.last(s.slug); got != "nothing_to_do 2.0 2.0 none" {
					t.Errorf("what came of it again is %q", got)
				}
			case "cut":
				for i := range 8 {
					if n := strings.Count(transcript, fmt.Sprintf("line %d\n", i+1)); n != 1 {
						t.Errorf("line %d is there as often as %d:\n%s", i+1, n, transcript)
					}
				}
			}
		})
	}
}

// Of updates that are asked for at once one runs after the other, and none is begun after two have failed.
func TestUpdateAll(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": works + "echo all done", "b": "exit 3", "c": "exit 3", "d": works + "echo all done"})
	f.Expect(t, "PUT", fmt.Sprintf("apps/%d/script", f.apps["a"].id), `{"content":"mine"}`, apitest.Admin, 200, "")
	f.Expect(t, "POST", "apps/update-all", "", apitest.Operator, 202, "", `"jobs":[]`, `"app":"a","reason":"edited"`,
		`"app":"b","reason":"consent_required"`, `"app":"wiki","reason":"no_entry"`)
	f.Expect(t, "POST", "apps/update-all?plan=true", `{"consent":true}`, apitest.Operator, 200, "", "after 2 failures")
	f.Expect(t, "POST", fmt.Sprintf("apps/%d/script/revert", f.apps["a"].id), "", apitest.Admin, 200, "")
	f.Expect(t, "POST", "apps/update-all", `{"consent":true}`, apitest.Operator, 202, "", `"kind":"app.update"`,
		`"app":"a","reason":"current"`)
	order := f.Value(`SELECT string_agg(a.slug, ' ' ORDER BY u.job_id) FROM app_updates u JOIN apps a ON a.id = u.app_id`)
	waittest.Until(t, "all have ended", func() bool {
		return f.Value("SELECT count(*) FROM jobs WHERE kind = 'app.update' AND status IN ('queued', 'running')") == "0"
	})
	ends := f.Value(`SELECT string_agg(a.slug || ' ' || j.status || ' ' || coalesce(u.outcome, '-'), ', ' ORDER BY u.job_id) 
		FROM app_updates u JOIN apps a ON a.id = u.app_id JOIN jobs j ON j.id = u.job_id`)
	failed, want := 0, []string{}
	for slug := range strings.FieldsSeq(order) {
		switch {
		case failed == 2:
			want = append(want, slug+" canceled -")
		case slug == "d":
			want = append(want, "d succeeded updated")
		default:
			want = append(want, slug+" failed rolled_back")
			failed++
		}
	}
	if ends != strings.Join(want, ", ") {
		t.Errorf("%s, want %s", ends, strings.Join(want, ", "))
	}
	f.Expect(t, "GET", "apps/updates", "", apitest.Viewer, 200, "", `"app":"a","available":false,"reason":"current"`,
		`"outcome":"rolled_back"`)
	overlap := f.Value(`SELECT count(*) FROM (SELECT job_id, min(at) FILTER (WHERE text LIKE 'looking at%') AS begun
		FROM job_events GROUP BY job_id) b
		JOIN jobs j ON j.kind = 'app.update' AND j.id < b.job_id AND b.begun < j.finished_at - interval '50 ms'
		JOIN jobs k ON k.id = b.job_id AND k.kind = 'app.update'`)
	if overlap != "0" {
		t.Errorf("%s have begun before others have ended", overlap)
	}
}
