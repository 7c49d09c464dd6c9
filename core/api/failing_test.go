package api_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/internal/sampletest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// distinct are failures that lead to different statuses. Each operation meets them in the short tier, and one in so many of the others.
var distinct = []string{string(plugin.Unreachable), string(plugin.Timeout), string(plugin.Unsupported)}

const otherFailures = 16

// failures are all ways in which a driver fails, by name.
func failures() map[string]error {
	all := map[string]error{"gone": fmt.Errorf("calling: %w", plugin.ErrGone), "late": fmt.Errorf("calling: %w", context.DeadlineExceeded)}
	for _, kind := range []plugin.ErrorKind{
		plugin.NotFound, plugin.Denied, plugin.TokenRejected, plugin.Unsupported, plugin.Unreachable, plugin.Untrusted, plugin.Forbidden,
		plugin.Timeout, plugin.Conflict, plugin.Invalid, plugin.Busy, plugin.Refused, plugin.Protocol, plugin.Internal,
	} {
		all[string(kind)] = plugin.Errorf(kind, "a test said so")
	}
	return all
}

// declaredFailures are the statuses of failing hypervisors that each operation's document has.
func declaredFailures(t *testing.T) map[string][]int {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			ID        string `json:"operationId"`
			Responses map[string]any
		}
	}
	if err := json.Unmarshal(wholeDocument(), &doc); err != nil {
		t.Fatal(err)
	}
	all := map[string][]int{}
	for _, methods := range doc.Paths {
		for _, o := range methods {
			all[o.ID] = nil
			for status := range o.Responses {
				if n, _ := strconv.Atoi(status); slices.Contains(hypervisorStatuses, n) {
					all[o.ID] = append(all[o.ID], n)
				}
			}
			slices.Sort(all[o.ID])
		}
	}
	return all
}

// hypervisorStatuses are those that only a failing driver leads to.
var hypervisorStatuses = []int{http.StatusNotImplemented, http.StatusBadGateway, http.StatusGatewayTimeout}

// Exactly those operations declare 501, 502 and 504 that answer so when the driver and the firewall backend fail, in whichever way
// they do.
func TestFailuresOfTheDriverAreDeclared(t *testing.T) {
	t.Parallel()
	e := newTeamsFixture(t)
	changes := map[string]requesttest.Change{}
	for _, c := range e.allChanges() {
		changes[c.Operation] = c
	}
	seen, all := map[string]map[int]bool{}, reads()
	// What spoils is asked last: with a host that is moved or removed goes what the others ask for.
	last := func(o *op.Operation) int {
		if changes[o.Spec.ID].Spoils {
			return 1
		}
		return 0
	}
	operations := slices.SortedStableFunc(slices.Values(declared().Operations()), func(a, b *op.Operation) int { return last(a) - last(b) })
	for _, o := range operations {
		if !sampletest.Selected(o.Spec.ID, 3) {
			continue
		}
		if o.Spec.Public || o.Stream || o.Socket { // without a caller, without an end, or without a status in the end
			continue
		}
		change := changes[o.Spec.ID]
		body := cmp.Or(change.Calling, change.Body)
		seen[o.Spec.ID] = map[int]bool{}
		owner := identitytest.As(t, e.users, identity.Owner) // of its own: some operations end sessions
		values := maps.Clone(e.values)
		maps.Copy(values, change.Path)
		ask := func(how string) {
			answer := e.send(o.Method, fill(o.Path, values), body, func(r *http.Request) {
				change.SetHeaders(r)
				r.AddCookie(owner.Cookie)
			})
			if slices.Contains(hypervisorStatuses, answer.Status) {
				seen[o.Spec.ID][answer.Status] = true
			}
			if answer.Status == http.StatusInternalServerError && how != string(plugin.Internal) {
				t.Errorf("%s with a driver that fails as %s: %s", o.Spec.ID, how, answer.Body)
			}
		}
		// A poll that failed, of an operation before, has left the nodes in doubt: what needs one would not come as far as the driver.
		e.exec("UPDATE nodes SET status = 'online'")
		if calling := all[o.Spec.ID].Calling; calling != "" {
			e.exec(calling)
		}
		for how, err := range failures() {
			if !slices.Contains(distinct, how) && !sampletest.Selected(o.Spec.ID+how, otherFailures) {
				continue
			}
			e.fail(memdriver.Fault{Err: err})
			ask(how)
		}
		e.fail(memdriver.Fault{})
		e.bare.Store(true)
		ask("bare")
		e.bare.Store(false)
	}
	said := declaredFailures(t)
	failing := 0
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		answered := slices.Sorted(maps.Keys(seen[id]))
		if len(answered) > 0 {
			failing++
		}
		if !slices.Equal(answered, said[id]) {
			t.Errorf("%s declares %v and answers %v", id, said[id], answered)
		}
	}
	if failing < 6 {
		t.Errorf("only %d operations felt that the driver failed", failing)
	}
}

// fail makes all hypervisors and their firewalls fail at whatever they are asked.
func (e *teamsFixture) fail(fault memdriver.Fault) {
	for _, firewall := range e.protected {
		firewall.Fail(fault.Err)
	}
	for _, cluster := range e.requested.Clusters {
		for _, method := range memdriver.Methods {
			cluster.SetFault(method, fault)
		}
	}
}
