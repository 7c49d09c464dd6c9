package appscript_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// One byte that is another one in the container, after the bundle was brought there and before it is started, is seen, whichever file
// it is in: nothing of the bundle runs, and the app stays as it is.
func TestChangedInTheContainer(t *testing.T) {
	t.Parallel()
	files := map[string]string{"program": "update.sh", "library": "engine/lib.sh", "overlay": "overlay/clear", "wrapper": "../enter"}
	scripts := map[string]string{}
	for slug := range files {
		scripts[slug] = works + "echo all done"
	}
	f := newFixture(t, scripts)
	for _, slug := range slices.Sorted(maps.Keys(files)) {
		t.Run(slug, func(t *testing.T) {
			changed := 0
			f.steps(func(step string) func() error {
				file := "/var/lib/hostler/runs/*/files/bundle/" + files[slug]
				if strings.HasPrefix(step, "in a guest") && changed == 0 && f.inside(slug, "ls "+file+" 2>/dev/null || true") != "" {
					changed++
					f.inside(slug, `printf '\007' | dd of="$(ls `+file+`)" conv=notrunc bs=1 status=none`)
				}
				return func() error { return nil }
			})
			id := f.ask(fmt.Sprintf("apps/%d/update", f.apps[slug].id), `{"consent":true}`)
			transcript := f.ended(id, "failed")
			f.steps(nil)
			if changed != 1 {
				t.Fatalf("the byte was changed as often as %d:\n%s", changed, transcript)
			}
			if got := f.last(slug); got != "needs_human 1.0 1.0 none" {
				t.Errorf("what came of it is %q:\n%s", got, transcript)
			}
			for _, want := range []string{"does not have the expected SHA-256", "the script did not run"} {
				if !strings.Contains(transcript, want) {
					t.Errorf("the transcript does not say %q:\n%s", want, transcript)
				}
			}
			if got := f.page(slug); got != "one" {
				t.Errorf("the page says %q", got)
			}
			if left := f.inside(slug, "ls -A /var/lib/hostler/runs 2>/dev/null || true"); left != "" {
				t.Errorf("the container has %s", left)
			}
		})
	}
}

// A connection that is cut at every step of an update changes nothing of what comes of it: where it is cut before the step, while it is
// done, and where the step is done and its answer lost.
func TestCutAtEachStep(t *testing.T) {
	t.Parallel()
	const good = "for i in 1 2 3; do echo line $i; sleep 0.3; done; echo run >>/root/counted; " + works + "echo all done"
	const broken = newVersion + `kill "$(cat /root/pid)"; echo all done`
	ways := []string{"before", "during", "after"}
	scripts := map[string]string{}
	for _, way := range ways {
		scripts["good-"+way], scripts["broken-"+way] = good, broken
	}
	f := newFixture(t, scripts)
	for _, slug := range slices.Sorted(maps.Keys(scripts)) { // one breaks, one is good
		t.Run(slug, func(t *testing.T) {
			// Each step once until something is done with the container, and then again: a step that is always cut would never be done.
			var mu sync.Mutex
			cut, cuts := map[string]bool{}, 0
			f.set(nil, func(context.Context, string, hypervisor.GuestID) {
				mu.Lock()
				defer mu.Unlock()
				clear(cut)
			})
			f.steps(func(step string) func() error {
				mu.Lock()
				hit := !cut[step]
				cut[step] = true
				if hit {
					cuts++
				}
				mu.Unlock()
				_, when, _ := strings.Cut(slug, "-")
				switch {
				case hit && when == "before":
					f.machine.SSH.CloseConnections()
				case hit && when == "during":
					go f.machine.SSH.CloseConnections()
				}
				return func() error {
					if hit && when == "after" {
						return plugin.Errorf(plugin.Unreachable, "the connection was cut")
					}
					return nil
				}
			})
			id := f.ask(fmt.Sprintf("apps/%d/update", f.apps[slug].id), `{"consent":true}`)
			status, last, page := "succeeded", fmt.Sprintf("updated 1.0 2.0 before-update-%d", id), "two"
			if strings.HasPrefix(slug, "broken") {
				status, last, page = "failed", "rolled_back 1.0 1.0 none", "one"
			}
			transcript := f.ended(id, status)
			f.steps(nil)
			f.set(nil, nil)
			if got := f.last(slug); got != last {
				t.Errorf("what came of it is %q, want %q:\n%s", got, last, transcript)
			}
			if got := f.page(slug); got != page {
				t.Errorf("the page says %q, want %q", got, page)
			}
			if cuts < 8 {
				t.Errorf("it was cut as often as %d", cuts)
			}
			for i := range 3 {
				if n := strings.Count(transcript, fmt.Sprintf("line %d\n", i+1)); status == "succeeded" && n != 1 {
					t.Errorf("line %d is there as often as %d:\n%s", i+1, n, transcript)
				}
			}
			if status == "succeeded" && f.inside(slug, "cat /root/counted") != "run" {
				t.Errorf("the script ran as often as this: %q", f.inside(slug, "cat /root/counted"))
			}
			if left := f.inside(slug, "ls -A /var/lib/hostler/runs 2>/dev/null || true"); left != "" {
				t.Errorf("the container has %s", left)
			}
			for request, most := range map[string]int{"snapshot": 1, "roll-back": 1} {
				if n := f.did(request, slug); n > most {
					t.Errorf("%s was done as often as %d", request, n)
				}
			}
		})
	}
}
