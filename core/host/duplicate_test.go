package host_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/plugin"
)

// wantDuplicate holds err against the problem with the host's id, or with no hint at it for 0.
func wantDuplicate(t *testing.T, err error, id int64) {
	t.Helper()
	var p *problem.Error
	if !errors.As(err, &p) || p.Code != problem.CodeAlreadyEnrolled {
		t.Fatalf("error is %v, want already_enrolled", err)
	}
	told, is := p.Members["host_id"]
	if id == 0 && len(p.Members) > 0 || id != 0 && (!is || told != id) {
		t.Errorf("the members are %v, want host %d", p.Members, id)
	}
	if strings.ContainsAny(p.Detail, "0123456789") || strings.Contains(p.Detail, ".example") {
		t.Errorf("the detail hints at the host: %q", p.Detail)
	}
}

// alone is a machine that is in no cluster.
func alone(certificate, address string) machine {
	return machine{certificate: certificate, node: "pve", address: address}
}

func TestOneServerIsOneHost(t *testing.T) {
	t.Parallel()
	member := machine{certificate: "c1", node: "pve1", cluster: "prod", address: "192.0.2.1"}
	for name, c := range map[string]struct {
		first, second machine
		refused       bool
	}{
		"two addresses of a machine alone":             {alone("c1", "192.0.2.1"), alone("c1", "192.0.2.1"), true},
		"two addresses of a member":                    {member, member, true},
		"a token that does not see addresses":          {member, machine{certificate: "c1", node: "pve1", cluster: "prod"}, true},
		"a driver that tells no addresses":             {alone("c1", ""), alone("c1", ""), true},
		"two machines of one name":                     {alone("c1", "192.0.2.1"), alone("c2", "192.0.2.2"), false},
		"two machines of one name and private address": {alone("c1", "192.0.2.1"), alone("c2", "192.0.2.1"), false},
		"two machines of one name and one certificate": {alone("wildcard", "192.0.2.1"), alone("wildcard", "192.0.2.2"), false},
		"two members": {member,
			machine{certificate: "c2", node: "pve2", cluster: "prod", address: "192.0.2.2"}, false},
		"two members with one certificate": {member,
			machine{certificate: "c1", node: "pve2", cluster: "prod", address: "192.0.2.2"}, false},
		"one certificate and name, two clusters": {member,
			machine{certificate: "c1", node: "pve1", cluster: "test", address: "192.0.2.1"}, false},
		"one certificate and name, a cluster and alone": {member, machine{certificate: "c1", node: "pve1", address: "192.0.2.1"}, false},
		"endpoints that tell no node":                   {machine{certificate: "c1"}, machine{certificate: "c1"}, false},
		"a token that may not read the inventory": {alone("c1", ""),
			machine{certificate: "c1", fails: plugin.Errorf(plugin.Denied, "no")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, driver, d := newMachines(t)
			driver.put("a.example", c.first)
			driver.put("b.example", c.second)
			first := enrol(t, s, "a.example", false)
			before := listed(t, d)
			_, _, err := s.Create(t.Context(), enrolment("b.example", false))
			if !c.refused {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantDuplicate(t, err, first)
			if after := listed(t, d); after != before {
				t.Errorf("before %s, after %s", before, after)
			}
			// The host itself may be found at any of its server's addresses, and another one once it is gone.
			address := "b.example"
			if _, err := s.Patch(t.Context(), first, host.Change{Address: &address}); err != nil {
				t.Error("another address of the same host:", err)
			}
			if err := s.Remove(t.Context(), first, "a.example", true); err != nil {
				t.Fatal(err)
			}
			enrol(t, s, "a.example", false)
		})
	}
}

// Certificates are renewed: where an authority decides, without anybody noticing here.
func TestOneServerWithARenewedCertificate(t *testing.T) {
	t.Parallel()
	old, renewed := alone("c1", "192.0.2.1"), alone("c2", "192.0.2.1")
	old.signed, renewed.signed = true, true
	t.Run("that an authority signed", func(t *testing.T) {
		t.Parallel()
		s, driver, _ := newMachines(t)
		driver.put("a.example", old)
		first := enrol(t, s, "a.example", true)
		driver.put("a.example", renewed)
		driver.put("b.example", renewed)
		_, _, err := s.Create(t.Context(), enrolment("b.example", true))
		wantDuplicate(t, err, first)
	})
	t.Run("that is not accepted yet", func(t *testing.T) {
		t.Parallel()
		s, driver, d := newMachines(t)
		driver.put("a.example", old)
		first := enrol(t, s, "a.example", false)
		driver.put("a.example", renewed)
		driver.put("b.example", renewed)
		if _, err := d.Pool.Exec(t.Context(), "UPDATE hosts SET status = 'unreachable', error_reason = 'tls_fingerprint'"); err != nil {
			t.Fatal(err)
		}
		_, _, err := s.Create(t.Context(), enrolment("b.example", false))
		wantDuplicate(t, err, first)
		accepted := print("c2")
		if _, err := s.Patch(t.Context(), first, host.Change{Fingerprint: &accepted}); err != nil {
			t.Error("accepting it at the same address:", err)
		}
		_, _, err = s.Create(t.Context(), enrolment("b.example", false))
		wantDuplicate(t, err, first)
	})
	t.Run("a machine that was set up anew in its place", func(t *testing.T) {
		t.Parallel()
		s, driver, d := newMachines(t)
		driver.put("a.example", old)
		enrol(t, s, "a.example", false)
		driver.mu.Lock()
		delete(driver.at, "a.example:8006")
		driver.mu.Unlock()
		if _, err := d.Pool.Exec(t.Context(), "UPDATE hosts SET status = 'unreachable', error_reason = 'tls_fingerprint'"); err != nil {
			t.Fatal(err)
		}
		driver.put("b.example", renewed)
		enrol(t, s, "b.example", false)
	})
	t.Run("a host whose certificate is sure is not asked", func(t *testing.T) {
		t.Parallel()
		s, driver, _ := newMachines(t)
		driver.put("a.example", old)
		enrol(t, s, "a.example", false)
		asked := driver.questions("a.example")
		driver.put("b.example", renewed)
		enrol(t, s, "b.example", false)
		if now := driver.questions("a.example"); now != asked {
			t.Errorf("it was asked %d times", now-asked)
		}
	})
}

// An endpoint of which it is not known which server it is could be any.
func TestServerThatDoesNotTellWhichItIs(t *testing.T) {
	t.Parallel()
	s, driver, d := newMachines(t)
	for _, kind := range []plugin.ErrorKind{plugin.Unreachable, plugin.Timeout, plugin.Protocol} {
		silent := alone("c1", "192.0.2.1")
		silent.fails = plugin.Errorf(kind, "no")
		driver.put("a.example", silent)
		if _, _, err := s.Create(t.Context(), enrolment("a.example", false)); err == nil {
			t.Errorf("%s: it was enrolled", kind)
		}
	}
	if hosts := listed(t, d); hosts != "" {
		t.Errorf("it was stored: %s", hosts)
	}
}

// What the first check left open is known after a poll.
func TestOneServerAsAPollKnowsIt(t *testing.T) {
	t.Parallel()
	s, driver, d := newMachines(t)
	blind := alone("c1", "")
	blind.fails = plugin.Errorf(plugin.Denied, "no")
	driver.put("a.example", blind)
	driver.put("b.example", alone("c1", "192.0.2.1"))
	first := enrol(t, s, "a.example", false)
	if _, err := d.Pool.Exec(t.Context(),
		"UPDATE hosts SET entry_node = 'pve', server_cluster = '', server_address = '192.0.2.1'"); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.Create(t.Context(), enrolment("b.example", false))
	wantDuplicate(t, err, first)
}

func TestOneServerEnrolledAtTheSameTime(t *testing.T) {
	t.Parallel()
	s, driver, d := newMachines(t)
	const many = 8
	// All have been checked before the first one is stored.
	var checked sync.WaitGroup
	checked.Add(many)
	driver.then = func(call, _ string) {
		if call == "inventory" {
			checked.Done()
			checked.Wait()
		}
	}
	errs := make(chan error, many)
	for i := range many {
		address := fmt.Sprintf("a%d.example", i)
		driver.put(address, alone("c1", "192.0.2.1"))
		go func() {
			_, _, err := s.Create(t.Context(), enrolment(address, false))
			errs <- err
		}()
	}
	made := 0
	for range many {
		if err := <-errs; err == nil {
			made++
		} else if problem.CodeOf(err) != problem.CodeAlreadyEnrolled {
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("%d were enrolled: %s", made, listed(t, d))
	}
}

// Only who looks after the other host is told which it is.
func TestWhoIsToldWhichHost(t *testing.T) {
	t.Parallel()
	s, driver, d := newMachines(t)
	driver.put("a.example", alone("c1", "192.0.2.1"))
	driver.put("b.example", alone("c2", "192.0.2.2"))
	driver.put("c.example", alone("c1", "192.0.2.1"))
	a, b := enrol(t, s, "a.example", false), enrol(t, s, "b.example", false)
	if _, err := d.Pool.Exec(t.Context(), "UPDATE hosts SET team_id = id + 1"); err != nil {
		t.Fatal(err)
	}
	to, with := "c.example", ""
	before := listed(t, d)
	for name, c := range map[string]struct {
		teams map[int64]identity.Role
		told  int64
	}{
		"an owner of the other team only":        {map[int64]identity.Role{3: identity.Owner}, 0},
		"who may only see the other host":        {map[int64]identity.Role{3: identity.Owner, 2: identity.Operator}, 0},
		"who looks after both":                   {map[int64]identity.Role{3: identity.Owner, 2: identity.Admin}, a},
		"an owner of the instance":               {map[int64]identity.Role{identity.DefaultTeam: identity.Owner}, a},
		"an operator of the instance, else team": {map[int64]identity.Role{3: identity.Owner, identity.DefaultTeam: identity.Operator}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := identity.WithCaller(t.Context(), &identity.Caller{UserID: 1, Teams: c.teams})
			_, err := s.Patch(ctx, b, host.Change{Address: &to, Fingerprint: &with})
			wantDuplicate(t, err, c.told)
		})
	}
	if after := listed(t, d); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
	// A certificate that makes a host another's server is refused at its own address too.
	driver.put("b.example", alone("c1", "192.0.2.1"))
	accepted := print("c1")
	_, err := s.Patch(t.Context(), b, host.Change{Fingerprint: &accepted})
	wantDuplicate(t, err, a)
	name := "b"
	if _, err := s.Patch(t.Context(), b, host.Change{Name: &name}); err != nil {
		t.Error("a change of nothing that says where it is:", err)
	}
}
