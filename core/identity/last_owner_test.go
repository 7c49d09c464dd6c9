package identity_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/problem"
)

// asCaller is the caller that the account is right now.
func asCaller(t testing.TB, s *identity.Store, a *identitytest.Account) *identity.Caller {
	t.Helper()
	c, err := s.Authenticate(t.Context(), with(a.Cookie))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// twoStores are two instances on one database, each with connections of its own.
func twoStores(t *testing.T) (d *db.DB, stores [2]*identity.Store) {
	t.Helper()
	d = dbtest.New(t)
	return d, [2]*identity.Store{identitytest.New(d), identitytest.New(dbtest.Open(t, d.Pool.Config().ConnString()))}
}

// atOnce does both at the same time.
func atOnce(do ...func() error) []error {
	errs := make([]error, len(do))
	var begin, end sync.WaitGroup
	begin.Add(1)
	for i := range do {
		end.Go(func() {
			begin.Wait()
			errs[i] = do[i]()
		})
	}
	begin.Done()
	end.Wait()
	return errs
}

const activeOwners = "SELECT count(*) FROM team_members m JOIN users u ON u.id = m.user_id WHERE m.team_id = 1 AND m.role = 'owner' " +
	"AND u.is_active"

// The last two owners take the role from each other, or each from themselves, at the same moment on two instances: one
// succeeds, and an active owner is left.
func TestOfTheLastTwoOwnersOneIsLeft(t *testing.T) {
	t.Parallel()
	type act func(ctx context.Context, s *identity.Store, by *identity.Caller, id int64) error
	demote := func(ctx context.Context, s *identity.Store, by *identity.Caller, id int64) error {
		_, err := s.SetMember(ctx, by, identity.DefaultTeam, id, identity.Admin)
		return err
	}
	remove := func(ctx context.Context, s *identity.Store, by *identity.Caller, id int64) error {
		return s.RemoveMember(ctx, by, identity.DefaultTeam, id)
	}
	deactivate := func(ctx context.Context, s *identity.Store, by *identity.Caller, id int64) error {
		_, err := s.PatchUser(ctx, by, id, identity.UserChange{Active: new(false)})
		return err
	}
	erase := func(ctx context.Context, s *identity.Store, by *identity.Caller, id int64) error {
		return s.DeleteUser(ctx, by, id)
	}
	for name, test := range map[string]struct {
		first, second act
		own           bool // each acts on the own account
	}{
		"demote each other":              {demote, demote, false},
		"demote themselves":              {demote, demote, true},
		"leave":                          {remove, remove, true},
		"demote one, delete the other":   {demote, erase, false},
		"deactivate each other":          {deactivate, deactivate, false},
		"remove one, deactivate another": {remove, deactivate, false},
		"by the system":                  {erase, deactivate, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, stores := twoStores(t)
			for round := range 15 {
				dbtest.Exec(t, d, "DELETE FROM team_members")
				a, b := identitytest.As(t, stores[0], identity.Owner), identitytest.As(t, stores[1], identity.Owner)
				// A deactivated owner and one of another team are no help.
				gone := identitytest.As(t, stores[0], identity.Owner)
				dbtest.Exec(t, d, "UPDATE users SET is_active = false WHERE id = $1", gone.ID)
				callers := [2]*identity.Caller{asCaller(t, stores[0], a), asCaller(t, stores[1], b)}
				if name == "by the system" {
					callers = [2]*identity.Caller{}
				}
				targets := [2]int64{b.ID, a.ID}
				if test.own {
					targets = [2]int64{a.ID, b.ID}
				}
				errs := atOnce(
					func() error { return test.first(t.Context(), stores[0], callers[0], targets[0]) },
					func() error { return test.second(t.Context(), stores[1], callers[1], targets[1]) },
				)
				good := 0
				for _, err := range errs {
					switch {
					case err == nil:
						good++
					case code(err) == problem.CodeLastOwner:
					case !test.own && (code(err) == problem.CodeForbidden || code(err) == problem.CodeUnauthenticated):
						// The other one was faster and the caller is no owner any more.
					default:
						t.Fatalf("round %d: %v", round, err)
					}
				}
				if left := dbtest.Value[int](t, d, activeOwners); good != 1 || left != 1 {
					t.Fatalf("round %d: %d succeeded and %d owners are left: %v", round, good, left, errs)
				}
			}
		})
	}
}

func TestTheLastOwnerStays(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	blue := identitytest.Team(t, d, "blue")
	owner := identitytest.As(t, s, identity.Owner)
	elsewhere := identitytest.User(t, s, identitytest.In{blue: identity.Owner, identity.DefaultTeam: identity.Admin})
	me := asCaller(t, s, owner)
	for name, try := range map[string]func() error{
		"demote": func() error { _, err := s.SetMember(t.Context(), me, 1, owner.ID, identity.Viewer); return err },
		"remove": func() error { return s.RemoveMember(t.Context(), me, 1, owner.ID) },
		"deactivate (sys)": func() error {
			_, err := s.PatchUser(t.Context(), nil, owner.ID, identity.UserChange{Active: new(false)})
			return err
		},
		"delete (sys)": func() error { return s.DeleteUser(t.Context(), nil, owner.ID) },
	} {
		if err := try(); code(err) != problem.CodeLastOwner {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What takes no owner away is allowed: the same role again, another team's owner, a name.
	if _, err := s.SetMember(t.Context(), me, 1, owner.ID, identity.Owner); err != nil {
		t.Error(err)
	}
	if err := s.RemoveMember(t.Context(), me, blue, elsewhere.ID); err != nil {
		t.Error(err)
	}
	if _, err := s.PatchUser(t.Context(), me, owner.ID, identity.UserChange{DisplayName: new("Ada")}); err != nil {
		t.Error(err)
	}
	for name, test := range map[string]struct {
		err  error
		want problem.Code
	}{
		"self": {func() error {
			_, err := s.PatchUser(t.Context(), me, owner.ID, identity.UserChange{Active: new(false)})
			return err
		}(), problem.CodeSelfDeactivate},
		"del": {s.DeleteUser(t.Context(), me, owner.ID), problem.CodeSelfDelete},
	} {
		if code(test.err) != test.want {
			t.Errorf("%s: %v", name, test.err)
		}
	}
	// A second active owner makes it possible.
	second := identitytest.As(t, s, identity.Owner)
	if err := s.RemoveMember(t.Context(), me, 1, owner.ID); err != nil {
		t.Error(err)
	}
	if err := s.RemoveMember(t.Context(), asCaller(t, s, second), 1, second.ID); code(err) != problem.CodeLastOwner {
		t.Error(err)
	}
	if n := dbtest.Value[int](t, d, activeOwners); n != 1 {
		t.Error(fmt.Sprint(n, " owners"))
	}
}
