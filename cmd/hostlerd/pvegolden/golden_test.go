package pvegolden_test

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/cmd/hostlerd/pvegolden"
	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/internal/sampletest"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
)

//go:generate go test . -count=1 -run TestGolden -update

// The golden files begin with these words.
const (
	requestsHead = `
# What every operation that asks the hypervisor sends to it until its jobs have ended: which request of the API, how often. A request is
# its own, about one of its tasks, or one of polls. 501 is for what the hypervisor does not have: nothing is asked of it.
# The simulator's tasks are over at once: real ones are asked after more often. Made by go generate ./cmd/hostlerd/pvegolden.
# A list takes one request of its own; for one that takes more, a row says why.
`
	privilegesHead = `
# Without which privilege an operation or its job fails, and which token needs it, found by taking one at a time from the token's role.
# A plus marks what the role does not have by default and today's release needs. Made by go generate ./cmd/hostlerd/pvegolden.
`
	refusalsHead = `
# What is answered to requests that cannot be carried out, word for word: the status with the body, and how the job ended.
# Times, digests and ids of tasks are left out. Made by go generate ./cmd/hostlerd/pvegolden.
`
)

// roles are those of the tokens' capabilities.
var roles = map[endpoint.Capability]string{
	endpoint.Monitoring: "ServiceAudit", endpoint.Lifecycle: "ServiceLifecycle", endpoint.Console: "ServiceConsole",
	endpoint.Backup: "ServiceBackup", endpoint.NodePower: "ServiceNodePower",
}

// In the short tier one act in so many runs.
const sampled = 24

// TestGoldenRequestsAndPrivileges lets each act happen with all privileges, and without each one that was looked for.
func TestGoldenRequestsAndPrivileges(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	requests := apitest.NewTable(requestsHead[1:], "ACT", "JOBS", "KIND", "REQUEST", "TIMES")
	privileges := apitest.NewTable(privilegesHead[1:], "ACT", "JOBS", "TOKEN", "ADDED", "PRIVILEGE")
	plain, err := pvesim.New(pvesim.Options{Guests: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plain.Close() })
	shared := worlds{life: t, free: map[string][]*pvegolden.World{}}
	t.Run("acts", func(t *testing.T) {
		for _, a := range pvegolden.Acts() {
			if !sampletest.Selected(a.Name(), sampled) {
				continue
			}
			t.Run(a.Name(), func(t *testing.T) {
				t.Parallel()
				w, back := shared.take(t, &a)
				sent, needed := try(t, w, &a, plain)
				back() // not after a failure: nobody knows what it has left
				mu.Lock()
				defer mu.Unlock()
				for _, row := range sent {
					requests.Add(row...)
				}
				for _, row := range needed {
					privileges.Add(row...)
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	for name, table := range map[string]*apitest.Table{"requests.txt": requests, "privileges.txt": privileges} {
		if file := filepath.Join("testdata", name); testing.Short() {
			table.GoldenPart(t, file)
		} else {
			table.Golden(t, file)
		}
	}
}

// worlds are reused by acts that only read, or that change a guest, which is made again for the next act: making a world takes ten times
// as long as most acts.
type worlds struct {
	life testing.TB // the worlds end with it
	mu   sync.Mutex
	free map[string][]*pvegolden.World // by their tokens
}

// take returns a world with the act's tokens, for one act of t, and the function that gives it back.
func (s *worlds) take(t *testing.T, a *pvegolden.Act) (w *pvegolden.World, back func()) {
	ofGuest := strings.HasPrefix(a.Path, "/vms/{") || strings.HasPrefix(a.Path, "/apps/{")
	if a.First || !ofGuest && a.Method != http.MethodGet {
		return pvegolden.NewWorld(t, a.Tokens...), func() {}
	}
	key := fmt.Sprint(a.Tokens)
	s.mu.Lock()
	if free := s.free[key]; len(free) > 0 {
		w, s.free[key] = free[len(free)-1], free[:len(free)-1]
	}
	s.mu.Unlock()
	if w == nil {
		w = pvegolden.NewWorld(s.life, a.Tokens...)
	}
	w.SetTest(t)
	return w, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.free[key] = append(s.free[key], w)
	}
}

// try is the rows of one act in both files.
func try(t *testing.T, w *pvegolden.World, a *pvegolden.Act, plain *pvesim.Cluster) (requests, privileges [][]string) {
	w.Prepare(a)
	done := w.Do(a)
	stats := w.Stats()
	if a.Lacks {
		if done.Status != http.StatusNotImplemented || len(stats.Requests) > 0 {
			t.Errorf("it should be refused, and nothing asked: %v %v", done, stats.Requests)
		}
		return [][]string{{a.Name(), "", "501", "", "0"}}, [][]string{{a.Name(), "", "", "", "501"}}
	}
	if !done.Succeeded() {
		t.Fatalf("with all privileges: %v", done)
	}
	if a.Long {
		maps.DeleteFunc(stats.Requests, func(request string, _ int64) bool { return strings.Contains(request, "/tasks/{upid}/") })
	}
	var own int64
	for request, n := range stats.Requests {
		kind := kindOf(request)
		if kind == "own" {
			own += n
		}
		requests = append(requests, []string{a.Name(), done.Kinds(), kind, request, fmt.Sprint(n)})
	}
	if own > a.Most && a.Most > 0 {
		t.Errorf("%d requests of its own, more than %d: %v", own, a.Most, stats.Requests)
	}
	list := a.Method == http.MethodGet && strings.HasPrefix(a.Operation, "list_")
	if (list && own > 1) != (a.Why != "") {
		t.Errorf("it takes %d requests, and why is %q: a list that takes more than one says why, and nothing else does", own, a.Why)
	}
	if a.Why != "" {
		requests = append(requests, []string{a.Name(), done.Kinds(), "why", a.Why, ""})
	}
	if len(requests) == 0 {
		requests = [][]string{{a.Name(), done.Kinds(), "none", "", "0"}}
	}
	for _, who := range slices.Sorted(maps.Keys(stats.Privileges)) {
		capability := endpoint.Capability(strings.TrimPrefix(who, pvesim.ServiceUser+"!"))
		role := roles[capability]
		line := func(words ...string) {
			mark := ""
			if !slices.Contains(plain.Role(role), words[0]) {
				mark = "+"
			}
			privileges = append(privileges, []string{a.Name(), done.Kinds(), string(capability), mark, strings.Join(words, " or ")})
		}
		// Of several that do each can be missing, and not all.
		var spare []string
		needed := map[string]bool{}
		for _, privilege := range stats.Privileges[who] {
			if !slices.Contains(w.Role(role), privilege) {
				continue
			}
			without := w.DoWithout(a, role, privilege)
			if without.Succeeded() {
				spare = append(spare, privilege)
				spare = append(spare, w.Stats().Privileges[who]...) // what was looked for in its place
				continue
			}
			named(t, without, privilege, role)
			needed[privilege] = true
			line(privilege)
		}
		slices.Sort(spare)
		spare = slices.DeleteFunc(slices.Compact(spare), func(p string) bool { return needed[p] || !slices.Contains(w.Role(role), p) })
		if len(spare) < 2 {
			continue
		}
		if without := w.DoWithout(a, role, spare...); !without.Succeeded() {
			refusal, _ := without.Refusal()
			i := slices.IndexFunc(spare, func(p string) bool { return strings.Contains(refusal.Text, p) })
			if i < 0 {
				t.Errorf("without %v: none of these is named: %v", spare, without)
				continue
			}
			named(t, without, spare[i], role)
			line(append([]string{spare[i]}, slices.DeleteFunc(slices.Clone(spare), func(p string) bool {
				return p == spare[i] || w.DoWithout(a, role, spare[i], p).Succeeded()
			})...)...)
		}
	}
	if len(privileges) == 0 {
		privileges = [][]string{{a.Name(), done.Kinds(), "", "", ""}}
	}
	return requests, privileges
}

// kindOf tells the requests of an act from those that follow its tasks and from those of polls.
func kindOf(request string) string {
	switch {
	case strings.Contains(request, "/tasks/{upid}/"):
		return "task"
	case request == "GET /cluster/resources", request == "GET /cluster/status":
		return "poll"
	}
	return "own"
}

// named fails unless an act was refused for exactly one privilege, and with the command that grants it.
func named(t *testing.T, d pvegolden.Outcome, privilege, role string) {
	t.Helper()
	refusal, refused := d.Refusal()
	command := fmt.Sprintf("pveum role modify %s --append 1 --privs %s", role, privilege)
	switch {
	case !refused:
		t.Errorf("without %s: no refusal for want of a privilege: %v", privilege, d)
	case len(refusal.Missing) > 0 && strings.Split(refusal.Missing[0], "|")[0] != privilege,
		len(refusal.Missing) == 0 && !strings.Contains(refusal.Text, "the token lacks "+privilege) &&
			!strings.Contains(refusal.Text, ", "+privilege+")"):
		t.Errorf("without %s: another one is named: %v", privilege, d)
	case !strings.Contains(refusal.Text, command):
		t.Errorf("without %s: the command %s is not named: %v", privilege, command, d)
	}
}

// Every operation that asks the hypervisor has an act.
func TestEveryOperationHasAnAct(t *testing.T) {
	t.Parallel()
	has, names := map[string]bool{}, map[string]bool{}
	for _, a := range pvegolden.Acts() {
		if names[a.Name()] {
			t.Errorf("two acts are %s", a.Name())
		}
		names[a.Name()] = true
		has[a.Operation] = true
	}
	for _, o := range api.New(pvegolden.NewWorld(t).Service.API).Operations() {
		if slices.Contains([]string{"verify_host_ssh", "list_app_ports", "install_catalog_entry"}, o.Spec.ID) {
			continue // it asks the machine by SSH, and nothing of the API but, for an install, what create_vm asks
		}
		if asks := o.Spec.Calls || o.Spec.Needs != ""; asks && !o.Socket && !has[o.Spec.ID] { // a socket asks what its ticket does
			t.Errorf("%s asks the hypervisor and has no act", o.Spec.ID)
		}
	}
}

// What cannot be done is refused with these very words, at once or by the job.
func TestGoldenRefusals(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for everything that is refused: make check runs it")
	}
	t.Parallel()
	made := map[string]string{}
	w := pvegolden.NewWorld(t, endpoint.Lifecycle, endpoint.Backup, endpoint.NodePower)
	for _, a := range pvegolden.Refusals() {
		w.Prepare(&a)
		done := w.Do(&a)
		if done.Succeeded() && len(done.Jobs) > 0 || made[a.Name()] != "" {
			t.Errorf("%s: it was done, or is there twice: %v", a.Name(), done)
		}
		made[a.Name()] = a.Name() + "\n" + done.StableText()
	}
	var text strings.Builder
	text.WriteString(refusalsHead[1:])
	for _, act := range slices.Sorted(maps.Keys(made)) {
		text.WriteString("\n" + made[act])
	}
	apitest.Golden(t, filepath.Join("testdata", "refusals.txt"), []byte(text.String()))
}
