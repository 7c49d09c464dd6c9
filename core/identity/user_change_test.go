package identity_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/problem"
)

const nextPassword = "mehlwurm-zebra-19"

// Whoever has a higher role in any team than the caller has in the instance is out of the caller's reach.
func TestNobodyReachesAboveTheirOwnRole(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	blue := identitytest.Team(t, d, "blue")
	owner := identitytest.As(t, s, identity.Owner)
	for name, test := range map[string]struct {
		caller identity.Role
		target identitytest.In
		want   problem.Code
	}{
		"admin on owner":                {identity.Admin, identitytest.In{1: identity.Owner}, problem.CodeForbidden},
		"admin on another team's owner": {identity.Admin, identitytest.In{blue: identity.Owner}, problem.CodeForbidden},
		"admin on viewer and other team's owner": {identity.Admin, identitytest.In{1: identity.Viewer, blue: identity.Owner},
			problem.CodeForbidden},
		"admin on admin":     {identity.Admin, identitytest.In{1: identity.Admin}, ""},
		"admin on nobody":    {identity.Admin, nil, ""},
		"owner on owner":     {identity.Owner, identitytest.In{1: identity.Owner, blue: identity.Owner}, ""},
		"operator on viewer": {identity.Operator, identitytest.In{1: identity.Viewer}, problem.CodeForbidden},
	} {
		caller := asCaller(t, s, identitytest.As(t, s, test.caller))
		fresh := func() int64 { return identitytest.User(t, s, test.target).ID }
		_, reset := s.ResetPassword(t.Context(), caller, fresh(), identity.NewPassword{Password: nextPassword})
		_, rename := s.PatchUser(t.Context(), caller, fresh(), identity.UserChange{DisplayName: new("x")})
		_, off := s.PatchUser(t.Context(), caller, fresh(), identity.UserChange{Active: new(false)})
		for what, err := range map[string]error{"reset": reset, "rename": rename, "deactivate": off,
			"delete": s.DeleteUser(t.Context(), caller, fresh())} {
			if test.want == "" && err != nil || test.want != "" && code(err) != test.want {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
	}
	for given, want := range map[identity.Role]problem.Code{identity.Owner: problem.CodeForbidden, identity.Admin: "", identity.NoRole: ""} {
		admin := asCaller(t, s, identitytest.As(t, s, identity.Admin))
		roles := map[int64]identity.Role{1: given}
		if given == identity.NoRole {
			roles = nil
		}
		_, err := s.AddUser(t.Context(), admin,
			identity.NewUser{Email: given.String() + "@new.example", Password: identitytest.Password, Roles: roles})
		if want == "" && err != nil || want != "" && code(err) != want {
			t.Errorf("an admin makes %s: %v", given, err)
		}
		if _, err := s.SetMember(t.Context(), admin, blue, admin.UserID, identity.Viewer); code(err) != problem.CodeForbidden {
			t.Errorf("an admin sets a member: %v", err)
		}
	}
	_ = owner
}

// A right that was taken while the request was on its way is gone.
func TestRightsAreThoseOfTheMoment(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	first, second := identitytest.As(t, s, identity.Owner), identitytest.As(t, s, identity.Owner)
	was := asCaller(t, s, first) // let in as an owner
	if _, err := s.SetMember(t.Context(), asCaller(t, s, second), 1, first.ID, identity.Admin); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetMember(t.Context(), was, 1, second.ID, identity.Viewer); code(err) != problem.CodeForbidden {
		t.Error(err)
	}
	if _, err := s.AddUser(t.Context(), was,
		identity.NewUser{Email: "a@new.example", Password: identitytest.Password,
			Roles: map[int64]identity.Role{1: identity.Owner}}); code(err) != problem.CodeForbidden {
		t.Error(err)
	}
	if _, err := s.ResetPassword(t.Context(), was, second.ID,
		identity.NewPassword{Password: nextPassword}); code(err) != problem.CodeForbidden {
		t.Error(err)
	}
	if c := asCaller(t, s, first); c.Instance() != identity.Admin {
		t.Errorf("the next request has the role %s", c.Instance())
	}
	dbtest.Exec(t, d, "UPDATE users SET is_active = false WHERE id = $1", first.ID)
	if _, err := s.AddUser(t.Context(), was,
		identity.NewUser{Email: "b@new.example", Password: identitytest.Password}); code(err) != problem.CodeUnauthenticated {
		t.Error(err)
	}
}

func TestDeactivationAndResetEndAllSessions(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	admin := asCaller(t, s, identitytest.As(t, s, identity.Admin))
	user := identitytest.As(t, s, identity.Operator)
	phone := identitytest.LogIn(t, s, user.User)
	out := func(what string) {
		t.Helper()
		for _, a := range []*identitytest.Account{user, phone} {
			if _, err := s.Authenticate(t.Context(), with(a.Cookie)); code(err) != problem.CodeUnauthenticated {
				t.Errorf("after %s: %v", what, err)
			}
		}
	}
	if _, err := s.PatchUser(t.Context(), admin, user.ID, identity.UserChange{Active: new(false)}); err != nil {
		t.Fatal(err)
	}
	out("deactivation")
	client := identity.Client{Address: "192.0.2.9"}
	if _, err := s.LogIn(t.Context(), user.Email, identitytest.Password, client); code(err) != problem.CodeInvalidCredentials {
		t.Errorf("an inactive user logs in: %v", err)
	}
	p, err := s.PatchUser(t.Context(), admin, user.ID, identity.UserChange{Active: new(true)})
	if err != nil || !p.IsActive {
		t.Fatalf("%+v %v", p, err)
	}
	out("reactivation") // the old sessions do not come back
	user = identitytest.LogIn(t, s, user.User)
	phone = identitytest.LogIn(t, s, user.User)
	// Locked out by wrong tries, too.
	for range 10 {
		_, _ = s.LogIn(t.Context(), user.Email, "canary-wrong-password", identity.Client{Address: "192.0.2.77"})
	}
	if _, err := s.LogIn(t.Context(), user.Email, identitytest.Password, client); code(err) != problem.CodeRateLimited {
		t.Fatal(err)
	}
	ended, err := s.ResetPassword(t.Context(), admin, user.ID, identity.NewPassword{Password: nextPassword})
	if err != nil || ended.Sessions != 2 {
		t.Fatalf("%+v %v", ended, err)
	}
	out("reset")
	if _, err := s.LogIn(t.Context(), user.Email, identitytest.Password, client); code(err) != problem.CodeInvalidCredentials {
		t.Errorf("the old password: %v", err)
	}
	if _, err := s.LogIn(t.Context(), user.Email, nextPassword, client); err != nil {
		t.Errorf("the new password: %v", err)
	}
}

// A log-in with the old password at the moment of a reset or a deactivation leaves no session behind.
func TestNoSessionSurvivesAReset(t *testing.T) {
	t.Parallel()
	d, stores := twoStores(t)
	admin := asCaller(t, stores[0], identitytest.As(t, stores[0], identity.Admin))
	for round := range 20 {
		user := identitytest.As(t, stores[0], identity.Viewer)
		errs := atOnce(
			func() error {
				_, err := stores[1].LogIn(t.Context(), user.Email, identitytest.Password, identity.Client{Address: "192.0.2." + strconv.Itoa(round)})
				return err
			},
			func() error {
				if round%2 == 0 {
					_, err := stores[0].ResetPassword(t.Context(), admin, user.ID, identity.NewPassword{Password: nextPassword})
					return err
				}
				_, err := stores[0].PatchUser(t.Context(), admin, user.ID, identity.UserChange{Active: new(false)})
				return err
			},
		)
		if errs[1] != nil || errs[0] != nil && code(errs[0]) != problem.CodeInvalidCredentials {
			t.Fatal(errs)
		}
		if n := dbtest.Value[int](t, d, "SELECT count(*) FROM sessions WHERE user_id = $1", user.ID); n != 0 {
			t.Fatalf("round %d: %d sessions", round, n)
		}
	}
}

// Two people who change different fields of one user both win.
func TestTwoPeopleChangeOneUser(t *testing.T) {
	if testing.Short() {
		t.Skip("lets requests race: make check runs it")
	}
	t.Parallel()
	_, stores := twoStores(t)
	var admins [2]*identity.Caller
	for i, s := range stores {
		admins[i] = asCaller(t, s, identitytest.As(t, s, identity.Admin))
	}
	for range 15 {
		user := identitytest.As(t, stores[0], identity.Viewer)
		errs := atOnce(
			func() error {
				_, err := stores[0].PatchUser(t.Context(), admins[0], user.ID, identity.UserChange{DisplayName: new("Ada")})
				return err
			},
			func() error {
				_, err := stores[1].PatchUser(t.Context(), admins[1], user.ID, identity.UserChange{Active: new(false)})
				return err
			},
		)
		p, err := stores[0].Profile(t.Context(), user.ID)
		if errs[0] != nil || errs[1] != nil || err != nil || p.IsActive || p.DisplayName == nil || *p.DisplayName != "Ada" {
			t.Fatalf("%v %v %+v", errs, err, p)
		}
	}
	// Of two who delete one user, one does.
	user := identitytest.As(t, stores[0], identity.Viewer)
	errs := atOnce(
		func() error { return stores[0].DeleteUser(t.Context(), admins[0], user.ID) },
		func() error { return stores[1].DeleteUser(t.Context(), admins[1], user.ID) },
	)
	if (errs[0] == nil) == (errs[1] == nil) || code(errs[0]) != problem.CodeNotFound && code(errs[1]) != problem.CodeNotFound {
		t.Error(errs)
	}
}

// What a deleted user did stays, and is readable.
func TestWhatADeletedUserDidStays(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	admin, user := identitytest.As(t, s, identity.Admin), identitytest.As(t, s, identity.Admin)
	dbtest.Exec(t, d, `INSERT INTO jobs (kind, target_kind, target_id, target_name, requested_by, requested_by_email) VALUES `+
		`('vm.start', 'vm', 1, 'web', $1, $2)`, user.ID, user.Email)
	dbtest.Exec(t, d, `INSERT INTO settings (key, value, updated_by) VALUES ('poll.interval_s', '40', $1)`, user.ID)
	dbtest.Exec(t, d, `INSERT INTO apps (guest_ref, name, adopted_by) VALUES ('100', 'db', $1)`, user.ID)
	ctx, _ := audit.Begin(t.Context(),
		audit.Entry{ActorType: audit.ActorUser, ActorID: &user.ID, ActorEmail: user.Email, Action: "user.update"})
	if _, err := s.PatchUser(ctx, asCaller(t, s, user), user.ID, identity.UserChange{DisplayName: new("Ada")}); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteUser(t.Context(), asCaller(t, s, admin), user.ID); err != nil {
		t.Fatal(err)
	}
	for what, sql := range map[string]string{
		"the job":       "SELECT count(*) FROM jobs WHERE requested_by IS NULL AND requested_by_email = '" + user.Email + "'",
		"the setting":   "SELECT count(*) FROM settings WHERE updated_by IS NULL AND value = '40'",
		"the app":       "SELECT count(*) FROM apps WHERE adopted_by IS NULL AND name = 'db'",
		"the audit log": "SELECT count(*) FROM audit WHERE action = 'user.update' AND actor_email = '" + user.Email + "'",
	} {
		if dbtest.Value[int](t, d, sql) != 1 {
			t.Errorf("%s is not as it should be", what)
		}
	}
	if n := dbtest.Value[int](t, d, "SELECT (SELECT count(*) FROM sessions WHERE user_id = $1) + (SELECT count(*) FROM team_members "+
		"WHERE user_id = $1)", user.ID); n != 0 {
		t.Errorf("%d rows are left of the account", n)
	}
	if _, err := s.Authenticate(t.Context(), with(user.Cookie)); code(err) != problem.CodeUnauthenticated {
		t.Error(err)
	}
	// The address is free again.
	if _, err := s.CreateUser(t.Context(), identity.NewUser{Email: user.Email, Password: identitytest.Password}); err != nil {
		t.Error(err)
	}
}

func TestOneAddressHasOneAccountInWhateverSpelling(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	if _, err := s.AddUser(t.Context(), nil, identity.NewUser{Email: "anna@bücher.example", Password: identitytest.Password}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		email string
		want  problem.Code
	}{
		"case":           {"ANNA@BÜCHER.example", problem.CodeConflict},
		"space around":   {"  anna@bücher.example ", problem.CodeConflict},
		"punycode":       {"anna@xn--bcher-kva.example", problem.CodeConflict},
		"full width":     {"ａｎｎａ＠bücher.example", problem.CodeConflict},
		"decomposed":     {"anna@bu\u0308cher.example", problem.CodeConflict},
		"zero width":     {"an\u200bna@bücher.example", problem.CodeInvalid},
		"soft hyphen":    {"an\u00adna@bücher.example", problem.CodeInvalid},
		"mixed alphabet": {"аnna@bücher.example", problem.CodeInvalid},
		"turned":         {"\u202eanna@bücher.example", problem.CodeInvalid},
		"NUL":            {"anna\x00@bücher.example", problem.CodeInvalid},
		"name":           {"Anna <anna@bücher.example>", problem.CodeInvalid},
		"SQL":            {"' OR 1=1 --@bücher.example", problem.CodeInvalid},
	} {
		if _, err := s.AddUser(t.Context(), nil, identity.NewUser{Email: test.email, Password: nextPassword}); code(err) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := dbtest.Value[int](t, d, "SELECT count(*) FROM users"); n != 1 {
		t.Errorf("%d accounts", n)
	}
}

// last is the newest row of the audit log and its details.
func last(t *testing.T, d *db.DB) (audit.Row, map[string]any) {
	t.Helper()
	rows := trail(t, d)
	if len(rows) == 0 {
		t.Fatal("the audit log is empty")
	}
	details := map[string]any{}
	if err := json.Unmarshal(rows[0].Details, &details); err != nil {
		t.Fatal(err)
	}
	return rows[0], details
}
