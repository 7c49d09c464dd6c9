package host_test

import (
	"sync"
	"testing"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
)

// The stored tokens, which nobody may read, must not travel to a machine of the one who names it.
func TestWhoMaySendTheTokensElsewhere(t *testing.T) {
	t.Parallel()
	s, driver, d := newMachines(t)
	pinned, signed := alone("c1", "192.0.2.1"), alone("c2", "192.0.2.2")
	signed.signed = true
	driver.put("pinned.example", pinned)
	driver.put("moved.example", pinned)
	driver.put("signed.example", signed)
	driver.put("signed2.example", signed)
	evil := alone("evil", "203.0.113.1")
	evil.signed = true
	driver.put("evil.example", evil)
	first, second := enrol(t, s, "pinned.example", false), enrol(t, s, "signed.example", true)
	if _, err := d.Pool.Exec(t.Context(), "UPDATE hosts SET team_id = 2"); err != nil {
		t.Fatal(err)
	}
	text := func(s string) *string { return &s }
	var ( // also the ways in which a request can say the same
		toEvil, toMoved, toSigned2     = text("evil.example"), text("moved.example"), text("https://signed2.example:8006/")
		ofEvil, ofPinned, none, ofNone = text(print("evil")), text(print("c1")), text(""), text(print("nobody"))
		team                           = int64(3)
	)
	before := listed(t, d)
	for name, c := range map[string]struct {
		id     int64
		change host.Change
	}{
		"another address with a fingerprint of one's own":          {first, host.Change{Address: toEvil, Fingerprint: ofEvil}},
		"another address and nothing pinned":                       {first, host.Change{Address: toEvil, Fingerprint: none}},
		"the same server by its address and another pin":           {first, host.Change{Address: toMoved, Fingerprint: ofNone}},
		"another address, with a team that one may give it to":     {first, host.Change{Address: toEvil, Fingerprint: ofEvil, TeamID: &team}},
		"another address where authorities decide":                 {second, host.Change{Address: toEvil}},
		"another address of the same server where these do":        {second, host.Change{Address: toSigned2}},
		"another address where these do, with a pin of one's own":  {second, host.Change{Address: toEvil, Fingerprint: ofEvil}},
		"another address where these do, with the pin of its peer": {second, host.Change{Address: toMoved, Fingerprint: ofPinned}},
	} {
		ctx := identity.WithCaller(t.Context(),
			&identity.Caller{UserID: 1, Teams: map[int64]identity.Role{2: identity.Admin, 3: identity.Owner, identity.DefaultTeam: identity.Admin}})
		if _, err := s.Patch(ctx, c.id, c.change); problem.CodeOf(err) != problem.CodeForbidden {
			t.Errorf("%s: error is %v, want forbidden", name, err)
		}
	}
	if n := driver.questions("evil.example"); n > 0 {
		t.Errorf("the other machine was asked %d times", n)
	}
	// In one's own place nothing travels, but only to what is shown there.
	ctx := identity.WithCaller(t.Context(), &identity.Caller{UserID: 1, Teams: map[int64]identity.Role{2: identity.Admin}})
	if _, err := s.Patch(ctx, first, host.Change{Fingerprint: ofEvil}); problem.CodeOf(err) != problem.CodeHypervisorError {
		t.Errorf("a certificate that is not shown: %v", err)
	}
	if after := listed(t, d); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
	if _, err := s.Patch(ctx, first, host.Change{Address: toMoved}); err != nil {
		t.Error("an admin, another address with the pinned certificate:", err)
	}
	if _, err := s.Patch(ctx, first, host.Change{Address: text("pinned.example"), Fingerprint: ofPinned}); err != nil {
		t.Error("an admin, back again with the same pin named:", err)
	}
	driver.put("pinned.example", alone("c3", "192.0.2.1"))
	if _, err := s.Patch(ctx, first, host.Change{Fingerprint: text(print("c3"))}); err != nil {
		t.Error("an admin, a renewed certificate at the same address:", err)
	}
	owner := identity.WithCaller(t.Context(), &identity.Caller{UserID: 1, Teams: map[int64]identity.Role{2: identity.Owner}})
	if _, err := s.Patch(owner, second, host.Change{Address: toEvil, Fingerprint: ofEvil}); err != nil {
		t.Error("an owner of the team:", err)
	}
}

// With no pin and no authority, what the first call saw is what every later one must see: else another machine could
// step in between, and its certificate or its answers would be stored.
func TestCertificateThatChangesBetweenTwoCalls(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"permissions", "inventory"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			s, driver, d := newMachines(t)
			driver.put("a.example", alone("c1", "192.0.2.1"))
			driver.then = func(now, _ string) {
				if now == call {
					driver.put("a.example", alone("evil", "203.0.113.1"))
				}
			}
			_, _, err := s.Create(t.Context(), enrolment("a.example", false))
			if problem.CodeOf(err) != problem.CodeHypervisorError || problem.From(err).Members["reason"] != "tls_fingerprint" {
				t.Errorf("enrolling: %v", err)
			}
			if hosts := listed(t, d); hosts != "" {
				t.Errorf("it was stored: %s", hosts)
			}
			if call == "permissions" {
				driver.put("a.example", alone("c1", "192.0.2.1"))
				in := host.ProbeRequest{EnrolRequest: enrolment("a.example", false)}
				if v, err := s.Probe(t.Context(), in); problem.CodeOf(err) != problem.CodeHypervisorError {
					t.Errorf("probing: %+v, %v", v, err)
				}
			}
			driver.then = nil
			driver.put("a.example", alone("c1", "192.0.2.1"))
			id := enrol(t, s, "a.example", false)
			driver.put("a.example", alone("c2", "192.0.2.1"))
			driver.then = func(now, _ string) {
				if now == call {
					driver.put("a.example", alone("evil", "203.0.113.1"))
				}
			}
			unpinned := ""
			before := listed(t, d)
			if _, err := s.Patch(t.Context(), id, host.Change{Fingerprint: &unpinned}); problem.CodeOf(err) != problem.CodeHypervisorError {
				t.Errorf("pinning what is seen now: %v", err)
			}
			if after := listed(t, d); after != before {
				t.Errorf("before %s, after %s", before, after)
			}
		})
	}
}

// Both were checked on the host as it was; the second would bring the tokens where nobody checked.
func TestTwoAddressChangesAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("lets two requests race: make check runs it")
	}
	t.Parallel()
	s, driver, d := newMachines(t)
	for _, address := range []string{"a.example", "b.example", "c.example"} {
		driver.put(address, alone("c1", "192.0.2.1"))
	}
	id := enrol(t, s, "a.example", false)
	var checked sync.WaitGroup
	checked.Add(2)
	driver.then = func(call, _ string) {
		if call == "inventory" {
			checked.Done()
			checked.Wait()
		}
	}
	errs := make(chan error, 2)
	for _, address := range []string{"b.example", "c.example"} {
		go func() {
			_, err := s.Patch(t.Context(), id, host.Change{Address: &address})
			errs <- err
		}()
	}
	refused := 0
	for range 2 {
		if err := <-errs; err != nil {
			if refused++; problem.CodeOf(err) != problem.CodeConflict {
				t.Error(err)
			}
		}
	}
	if refused != 1 {
		t.Errorf("%d were refused: %s", refused, listed(t, d))
	}
}

// A token that was checked at one address is not stored for another one.
func TestTokenThatWasCheckedElsewhere(t *testing.T) {
	t.Parallel()
	s, driver, d := newMachines(t)
	driver.put("a.example", alone("c1", "192.0.2.1"))
	driver.put("b.example", alone("c1", "192.0.2.1"))
	id := enrol(t, s, "a.example", false)
	moved := sync.OnceFunc(func() {
		if _, err := d.Pool.Exec(t.Context(), "UPDATE hosts SET address = 'b.example:8006'"); err != nil {
			t.Error(err)
		}
	})
	driver.then = func(call, _ string) {
		if call == "permissions" {
			moved()
		}
	}
	rotation := host.RotateRequest{Capability: "lifecycle", TokenID: "service@pve!lifecycle", Secret: secret.New("s")}
	if _, err := s.Rotate(t.Context(), id, rotation); problem.CodeOf(err) != problem.CodeConflict {
		t.Errorf("error is %v, want conflict", err)
	}
	if has, err := s.Has(t.Context(), id, "lifecycle"); err != nil || has {
		t.Errorf("it was stored, %v", err)
	}
	if _, err := s.Rotate(t.Context(), id, rotation); err != nil {
		t.Error("another try:", err)
	}
}
