package identity_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/problem"
)

func TestASlugIsMadeOfTheName(t *testing.T) {
	t.Parallel()
	s := identitytest.New(dbtest.New(t))
	pattern := regexp.MustCompile(identity.SlugPattern)
	for _, test := range []struct{ name, want string }{
		{"Web shop", "web-shop"},
		{"Web  Shop!", "web-shop-2"},
		{" web/shop ", "web-shop-3"},
		{"Web shop 2", "web-shop-2-2"}, // web-shop-2 is taken
		{"Ärzte & Öfen", "arzte-ofen"},
		{"Straße Łódź Ørsted Æther", "strasse-lodz-orsted-aether"},
		{"ＦＵＬＬ ｗｉｄｔｈ", "full-width"},
		{"Anna's team", "annas-team"},
		{"команда", "team"},
		{"團隊", "team-2"},
		{"--- …", "team-3"},
		{"default", "default-2"},
		{"42", "42"},
		{"'; DROP TABLE teams; --", "drop-table-teams"},
		{"100%_", "100"},
		{"100", "100-2"},
		{strings.Repeat("é", 100), strings.Repeat("e", 52)},
		{strings.Repeat("é", 99), strings.Repeat("e", 52) + "-2"},
		{strings.Repeat("a", 51) + " b", strings.Repeat("a", 51)},
		{"ﬁre \U0001F525", "fire"},
	} {
		made, err := s.CreateTeam(t.Context(), nil, identity.NewTeam{Name: test.name})
		if err != nil || made.Slug != test.want || !pattern.MatchString(made.Slug) {
			t.Errorf("%q: %+v %v, want %s", test.name, made, err, test.want)
		}
	}
}

func TestSlugsAreUniqueUnderConcurrency(t *testing.T) {
	if testing.Short() {
		t.Skip("lets requests race: make check runs it")
	}
	t.Parallel()
	d, stores := twoStores(t)
	var do []func() error
	for i := range 16 {
		do = append(do, func() error {
			_, err := stores[i%2].CreateTeam(t.Context(), nil, identity.NewTeam{Name: "Red"})
			return err
		})
	}
	for _, err := range atOnce(do...) {
		if err != nil {
			t.Error(err)
		}
	}
	for n := 2; n <= 16; n++ {
		if dbtest.Value[int](t, d, "SELECT count(*) FROM teams WHERE slug = $1", fmt.Sprintf("red-%d", n)) != 1 {
			t.Errorf("there is no red-%d", n)
		}
	}
	// Of several who want the same slug one gets it.
	do = nil
	for i := range 4 {
		do = append(do, func() error {
			_, err := stores[i%2].CreateTeam(t.Context(), nil, identity.NewTeam{Name: "Green", Slug: new("g")})
			return err
		})
	}
	good := 0
	for _, err := range atOnce(do...) {
		if err == nil {
			good++
		} else if code(err) != problem.CodeConflict {
			t.Error(err)
		}
	}
	if good != 1 {
		t.Errorf("%d have the slug", good)
	}
}

func TestFaultsOfATeam(t *testing.T) {
	t.Parallel()
	s := identitytest.New(dbtest.New(t))
	for name, test := range map[string]struct {
		in     identity.NewTeam
		faults int
	}{
		"empty":             {identity.NewTeam{Name: " \t"}, 1},
		"long":              {identity.NewTeam{Name: strings.Repeat("é", 101)}, 1},
		"NUL":               {identity.NewTeam{Name: "a\x00b"}, 1},
		"line":              {identity.NewTeam{Name: "a\nb"}, 1},
		"turned":            {identity.NewTeam{Name: "a\u202eb"}, 1},
		"not UTF-8":         {identity.NewTeam{Name: "a\xff"}, 1},
		"all at once":       {identity.NewTeam{Name: "", Slug: new("Ä"), Description: new("\x00x")}, 3},
		"empty slug":        {identity.NewTeam{Name: "a", Slug: new("")}, 1},
		"hyphen at the end": {identity.NewTeam{Name: "a", Slug: new("a-")}, 1},
		"capitals":          {identity.NewTeam{Name: "a", Slug: new("Web")}, 1},
		"line in the slug":  {identity.NewTeam{Name: "a", Slug: new("web\n")}, 1},
		"long slug":         {identity.NewTeam{Name: "a", Slug: new(strings.Repeat("a", 64))}, 1},
	} {
		_, err := s.CreateTeam(t.Context(), nil, test.in)
		if code(err) != problem.CodeInvalid || len(problem.From(err).Faults) != test.faults {
			t.Errorf("%s: %v", name, err)
		}
	}
	made, err := s.CreateTeam(t.Context(), nil,
		identity.NewTeam{Name: " A ", Slug: new(strings.Repeat("a", 63)), Description: new(" two\nlines ")})
	if err != nil || made.Name != "A" || *made.Description != "two\nlines" {
		t.Fatalf("%+v %v", made, err)
	}
	if _, err := s.CreateTeam(t.Context(), nil, identity.NewTeam{Name: "B", Slug: new("default")}); code(err) != problem.CodeConflict {
		t.Error(err)
	}
}

func TestTeamsAndUsersDoNotGatherWithoutBound(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	dbtest.Exec(t, d, "INSERT INTO teams (name, slug) SELECT 'n', 'n' || n FROM generate_series(2, $1) AS n", identity.MaxTeams)
	if _, err := s.CreateTeam(t.Context(), nil, identity.NewTeam{Name: "one more"}); code(err) != problem.CodeConflict {
		t.Errorf("a team: %v", err)
	}
	dbtest.Exec(t, d, `INSERT INTO users (email, email_key, password_hash)
		SELECT 'n' || n || '@example.com', 'n' || n || '@example.com', '' FROM generate_series(1, $1) AS n`, identity.MaxUsers)
	_, err := s.CreateUser(t.Context(), identity.NewUser{Email: "more@example.com", Password: "correct horse battery staple 7Q"})
	if code(err) != problem.CodeConflict || !strings.Contains(err.Error(), "100000 users") {
		t.Errorf("a user: %v", err)
	}
}

// attempt is a context in which an operation of the caller is recorded.
func attempt(ctx context.Context, action string) context.Context {
	ctx, _ = audit.Begin(ctx, audit.Entry{ActorType: audit.ActorSystem, Action: action})
	return ctx
}

func TestTeamsChangeAndGo(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.New(d)
	user := identitytest.As(t, s, identity.Viewer)
	made, err := s.CreateTeam(attempt(t.Context(), "team.create"), nil, identity.NewTeam{Name: "Blue", Description: new("x")})
	if err != nil {
		t.Fatal(err)
	}
	if row, details := last(t, d); row.TargetKind != "team" || row.TargetName != "Blue" || row.TeamID == nil || *row.TeamID != made.ID ||
		details["slug"] != "blue" {
		t.Errorf("%+v", row)
	}
	changed, err := s.PatchTeam(attempt(t.Context(), "team.update"), nil, made.ID,
		identity.TeamChange{Name: new("Navy"), Description: new("")})
	if err != nil || changed.Name != "Navy" || changed.Slug != "blue" || changed.Description != nil {
		t.Fatalf("%+v %v", changed, err)
	}
	if row, details := last(t, d); row.TargetName != "Navy" || fmt.Sprint(details["changed"]) != "[name description]" {
		t.Errorf("%+v", row)
	}
	kept, err := s.PatchTeam(t.Context(), nil, identity.DefaultTeam, identity.TeamChange{Name: new("House")})
	if err != nil || kept.Name != "House" || kept.Slug != "default" || kept.Description == nil {
		t.Errorf("%+v %v", kept, err)
	}
	if _, err := s.SetMember(attempt(t.Context(), "team.member_set"), nil, made.ID, user.ID, identity.Operator); err != nil {
		t.Fatal(err)
	}
	row, details := last(t, d)
	if row.TargetKind != "team" || row.TeamID == nil || *row.TeamID != made.ID || details["user_email"] != user.Email ||
		details["old_role"] != nil || details["new_role"] != "operator" {
		t.Errorf("%+v %v", row, details)
	}
	c := asCaller(t, s, user)
	if c.On(made.ID) != identity.Operator { // the very next request
		t.Errorf("%+v", c)
	}
	set, err := s.SetMember(attempt(t.Context(), "team.member_set"), nil, made.ID, user.ID, identity.Admin)
	if err != nil || set.Role != identity.Admin || set.Email != user.Email {
		t.Fatalf("%+v %v", set, err)
	}
	if _, details = last(t, d); details["old_role"] != "operator" || details["new_role"] != "admin" {
		t.Error(details)
	}
	if err := s.RemoveMember(attempt(t.Context(), "team.member_remove"), nil, made.ID, user.ID); err != nil {
		t.Fatal(err)
	}
	if _, details = last(t, d); details["old_role"] != "admin" || details["new_role"] != nil {
		t.Error(details)
	}
	if c := asCaller(t, s, user); c.Teams[made.ID] != identity.NoRole {
		t.Errorf("%+v", c)
	}
	for what, err := range map[string]error{
		"no member":    s.RemoveMember(t.Context(), nil, made.ID, user.ID),
		"no user":      s.RemoveMember(t.Context(), nil, made.ID, 999),
		"no team":      s.RemoveMember(t.Context(), nil, 999, user.ID),
		"set no user":  func() error { _, err := s.SetMember(t.Context(), nil, made.ID, 999, identity.Viewer); return err }(),
		"set no team":  func() error { _, err := s.SetMember(t.Context(), nil, 999, user.ID, identity.Viewer); return err }(),
		"list no team": func() error { _, _, err := s.Members(t.Context(), 999, 0, 10); return err }(),
		"patch": func() error {
			_, err := s.PatchTeam(t.Context(), nil, 999, identity.TeamChange{Name: new("x")})
			return err
		}(),
		"delete": func() error { _, err := s.DeleteTeam(t.Context(), nil, 999); return err }(),
	} {
		if code(err) != problem.CodeNotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := s.DeleteTeam(t.Context(), nil, identity.DefaultTeam); code(err) != problem.CodeInvalidState {
		t.Error(err)
	}
	if _, err := s.SetMember(t.Context(), nil, made.ID, user.ID, identity.Viewer); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeleteTeam(attempt(t.Context(), "team.delete"), nil, made.ID); err != nil {
		t.Fatal(err)
	}
	if row, details := last(t, d); row.TargetName != "Navy" || row.TeamID == nil || *row.TeamID != made.ID || details["members"] != 1.0 {
		t.Errorf("%+v %v", row, details)
	}
	// The rows of the deleted team are the instance's to read, and no other team's.
	all, _, err := audit.List(t.Context(), d, audit.Filter{AllTeams: true, Limit: 100})
	if err != nil || len(all) < 6 {
		t.Errorf("%d rows, %v", len(all), err)
	}
	if c := asCaller(t, s, user); len(c.Teams) != 1 {
		t.Errorf("%+v", c)
	}
}

// assets stands in for what teams own.
type assets func(ctx context.Context, tx *db.Tx, from, to int64) error

func (e assets) Reassign(ctx context.Context, tx *db.Tx, from, to int64) error {
	return e(ctx, tx, from, to)
}

// A host that comes to a team while it is deleted either falls with it or is refused; the team never goes with one.
func TestATeamGoesWithNothingThatItOwns(t *testing.T) {
	t.Parallel()
	d, stores := twoStores(t)
	s := identity.New(d, identity.Config{Argon2: identitytest.CheapHash,
		Assets: assets(func(ctx context.Context, tx *db.Tx, from, to int64) error {
			_, err := tx.Pgx.Exec(ctx, "UPDATE hosts SET team_id = $2 WHERE team_id = $1", from, to)
			return err
		})})
	for round := range 20 {
		made, err := stores[1].CreateTeam(t.Context(), nil, identity.NewTeam{Name: "Red"})
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprint("host", round)
		errs := atOnce(
			func() error { _, err := s.DeleteTeam(t.Context(), nil, made.ID); return err },
			func() error {
				_, err := d.Pool.Exec(t.Context(), "INSERT INTO hosts (team_id, driver, name, address) VALUES ($1, 'fake', $2, $2)", made.ID, name)
				return err
			},
		)
		hosts := dbtest.Value[int](t, d, "SELECT count(*) FROM hosts WHERE name = $1 AND team_id = 1", name)
		if errs[0] != nil || (errs[1] == nil) != (hosts == 1) {
			t.Fatalf("round %d: %v, %d hosts", round, errs, hosts)
		}
	}
	// A failure leaves everything as it was.
	broken := identity.New(d,
		identity.Config{Argon2: identitytest.CheapHash,
			Assets: assets(func(context.Context, *db.Tx, int64, int64) error { return context.DeadlineExceeded })})
	made, err := s.CreateTeam(t.Context(), nil, identity.NewTeam{Name: "Last"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := broken.DeleteTeam(t.Context(), nil, made.ID); err == nil {
		t.Error("deleted")
	}
	if _, err := s.Team(t.Context(), made.ID); err != nil {
		t.Error(err)
	}
}
