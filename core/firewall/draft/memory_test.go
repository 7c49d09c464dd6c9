package draft_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/core/firewall/draft"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job/jobtest"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/waittest"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

// raced says that the race detector watches the tests.
var raced bool

// memoryLimit is what a service may use of memory in all, in bytes, that plans and commits the longest draft.
const memoryLimit = 512 << 20

// admin is a caller in a process of its own.
func admin() context.Context {
	return identity.WithCaller(context.Background(), &identity.Caller{UserID: 1, Email: "ann@example.com",
		Teams: map[int64]identity.Role{identity.DefaultTeam: identity.Admin}})
}

// limitMemory keeps the process below the limit. Address space that nothing is written to does not count.
func limitMemory() error {
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: memoryLimit, Max: memoryLimit})
}

// commitLong asks four times at once for the plan of a draft, whose changes come from a file, and commits it. It says each step.
func commitLong(s *draft.Store, file string) error {
	body, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var all []draft.Change
	if err := json.Unmarshal(body, &all); err != nil {
		return err
	}
	made, err := s.Create(admin(), draft.Request{HostID: 1, Name: "long", Changes: all})
	if err != nil {
		return err
	}
	fmt.Println("created")
	var plans sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		plans.Go(func() {
			_, err := s.Commit(plan.WithRequest(admin(), plan.Request{Only: true}), made.ID, time.Hour, nil)
			if plan.ResultIn(err) == nil {
				errs[i] = fmt.Errorf("no plan: %w", err)
			}
		})
	}
	plans.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	fmt.Println("planned")
	if _, err := s.Commit(admin(), made.ID, time.Hour, new("long")); err != nil {
		return err
	}
	fmt.Println("committed")
	return nil
}

// manyRules are rules of which no two are alike.
func manyRules(n int) (all []sdk.Rule) {
	for i := range n {
		r := rule("ACCEPT", fmt.Sprint(1000+i))
		r.Source, r.Comment = fmt.Sprintf("198.51.%d.%d", 100+i/250, 1+i%250), strings.Repeat("what the rule is for; ", 4)
		all = append(all, r)
	}
	return all
}

// manyChanges puts new rules between those that are there.
func manyChanges(n int) []draft.Change {
	all := make([]draft.Change, n)
	for i := range all {
		all[i] = draft.Change{On: draft.ScopeRef{Kind: "vm", ID: 1}, Action: "create_rule", Pos: new(2 * i), Rule: &draft.Rule{Type: new("in"),
			Action: new("DROP"), Enable: new(1), Proto: new("tcp"), DPort: new(fmt.Sprint(20000 + i)),
			Source: new(fmt.Sprintf("203.0.%d.%d", 100+i/250, 1+i%250)), Comment: new(strings.Repeat("why it is closed; ", 4))}}
	}
	return all
}

// The longest draft of one VM is planned, four times at once, and carried out by a service that has half a gibibyte, also by one that
// begins in the middle.
func TestLongDraftNeedsLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("makes some thousand requests: make check runs it")
	}
	if raced {
		t.Skip("the race detector needs many times the memory")
	}
	t.Setenv("GOMEMLIMIT", fmt.Sprint(memoryLimit*9/10))
	f := newFixture(t)
	f.at.SetRules(f.guests["web"], manyRules(999)...)
	file := t.TempDir() + "/changes.json"
	body, err := json.Marshal(manyChanges(1000))
	if err == nil {
		err = os.WriteFile(file, body, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var made atomic.Int64
	f.at.Before(func(method string) {
		if changing[method] {
			made.Add(1)
		}
	})
	// Each new rule takes three requests. However slow they are, some come.
	makes := func(most int64) {
		for n := made.Load(); n < most; n++ {
			waittest.Until(t, "one more request is made", func() bool { return made.Load() > n })
		}
	}
	address := f.serve()
	first := jobtest.Start(t, f.url, f.key, address, file)
	for _, step := range []string{"created", "planned", "committed"} {
		first.Says(t, step)
	}
	makes(1500)
	t.Logf("the first service had %d MiB at most", peak(t, first))
	first.Kill()
	second := jobtest.Start(t, f.url, f.key, address, "")
	makes(2990)
	waittest.Until(t, "all changes are made", func() bool { return f.Value("SELECT status FROM firewall_drafts") == "waiting" })
	t.Logf("the second service had %d MiB at most", peak(t, second))
	if n := len(f.becomes(1, "waiting").Scopes[0].After); n != 1999 || strings.Count(f.states(), "\n") < 1999 {
		t.Errorf("%d rules, want 1999", n)
	}
}

// What a draft is made of, and its plan, takes memory as the draft grows: for twice the changes of twice the rules about twice as much.
func TestMemoryGrowsAsTheDraft(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory: make check runs it")
	}
	sizes := [2]uint64{}
	for i, n := range []int{200, 400} {
		f := newFixture(t)
		f.at.SetRules(f.guests["web"], manyRules(n)...)
		changes := manyChanges(n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := f.Create(as(t, identity.Admin), draft.Request{HostID: 1, Name: "long", Changes: changes})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = f.Commit(plan.WithRequest(as(t, identity.Admin), plan.Request{Only: true}), d.ID, time.Hour,
			nil); plan.ResultIn(err) == nil {
			t.Fatal("no plan", err)
		}
		runtime.ReadMemStats(&after)
		sizes[i] = after.TotalAlloc - before.TotalAlloc
	}
	t.Logf("%d KiB for 200 changes, %d KiB for 400", sizes[0]>>10, sizes[1]>>10)
	if sizes[1] > sizes[0]*5/2 {
		t.Errorf("200 changes take %d bytes, and 400 take %d", sizes[0], sizes[1])
	}
}

// A draft of a scope with so many rules that comparing them takes long is refused.
func TestTooManyRules(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.at.SetRules(f.guests["web"], slices.Repeat(manyRules(1), 10_001)...)
	_, err := f.Create(as(t, identity.Admin), draft.Request{HostID: 1, Name: "long", Changes: changes(t, few)})
	if problem.CodeOf(err) != problem.CodeInvalidState || !strings.Contains(err.Error(), "10001 rules") {
		t.Error(err)
	}
}

// peak is the most memory that a process has had, in MiB.
func peak(t *testing.T, p *jobtest.Process) (mib int) {
	t.Helper()
	status, err := os.Open(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = status.Close() }()
	lines := bufio.NewScanner(status)
	for lines.Scan() {
		if text, is := strings.CutPrefix(lines.Text(), "VmHWM:"); is {
			_, err = fmt.Sscan(text, &mib)
		}
	}
	if err != nil || mib == 0 {
		t.Fatal("the process does not say how much memory it had", err)
	}
	return mib >> 10
}
