package passkey_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/passkey"
	"github.com/hostler/hostler/core/problem"
)

// here is the service as an authenticator sees it.
var here = virtualwebauthn.RelyingParty{ID: "hostler.example", Name: "Hostler", Origin: "https://hostler.example"}

var client = identity.Client{Address: "192.0.2.7", UserAgent: "a browser"}

type fixture struct {
	*passkey.Store
	dbtest.SQL
	t     *testing.T
	users *identity.Store
	now   time.Time
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	d, keys := dbtest.New(t), identitytest.Keys(t)
	f := &fixture{SQL: dbtest.On(t, d), t: t, now: time.Now(),
		users: identity.New(d, identity.Config{Argon2: identitytest.CheapHash, Keys: keys, AddressTries: 1000, AccountTries: 1000})}
	f.Store = passkey.New(passkey.Config{DB: d, Users: f.users, Keys: keys, BaseURL: here.Origin, Now: func() time.Time { return f.now }})
	return f
}

// device is an authenticator with one passkey.
type device struct {
	party virtualwebauthn.RelyingParty
	virtualwebauthn.Authenticator
	virtualwebauthn.Credential
}

// account is an owner, and the session in which passkeys are added.
func (f *fixture) account() (*identitytest.Account, *identity.Caller) {
	f.t.Helper()
	a := identitytest.As(f.t, f.users, identity.Owner)
	return a, &identity.Caller{UserID: a.ID, Email: a.Email, SessionID: 7}
}

// newCredential makes a key. The library leaves out zeros at the beginning of a coordinate, which no authenticator does and nobody takes:
// such a key is made again.
func newCredential() virtualwebauthn.Credential {
	const whole = 77 // bytes of a COSE key on P-256
	for {
		if c := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2); len(c.Key.AttestationData()) == whole {
			return c
		}
	}
}

// create is what a device answers to the making of a passkey.
func (f *fixture) create(begun *passkey.CeremonyStart, edits ...func(*device)) (*device, passkey.Response) {
	f.t.Helper()
	options, err := virtualwebauthn.ParseAttestationOptions(string(begun.Options))
	if err != nil {
		f.t.Fatal(err)
	}
	d := &device{here, virtualwebauthn.NewAuthenticator(), newCredential()}
	d.Options.UserHandle = []byte(options.UserID)
	for _, edit := range edits {
		edit(d)
	}
	return d, passkey.Response{Ceremony: begun.Ceremony,
		Credential: json.RawMessage(virtualwebauthn.CreateAttestationResponse(d.party, d.Authenticator, d.Credential, *options))}
}

// get is what a device answers to a log-in.
func (d *device) get(t *testing.T, begun *passkey.CeremonyStart) passkey.Response {
	t.Helper()
	options, err := virtualwebauthn.ParseAssertionOptions(string(begun.Options))
	if err != nil {
		t.Fatal(err)
	}
	return passkey.Response{Ceremony: begun.Ceremony,
		Credential: json.RawMessage(virtualwebauthn.CreateAssertionResponse(d.party, d.Authenticator, d.Credential, *options))}
}

// add makes a passkey for the account.
func (f *fixture) add(caller *identity.Caller, edits ...func(*device)) (*device, []string) {
	f.t.Helper()
	begun, err := f.BeginAdd(f.t.Context(), caller, identitytest.Password)
	if err != nil {
		f.t.Fatal(err)
	}
	d, a := f.create(begun, edits...)
	_, codes, err := f.Add(f.t.Context(), caller, "Laptop", a)
	if err != nil {
		f.t.Fatal(err)
	}
	return d, codes
}

// logIn begins and completes a log-in; pending is that of one that waits, or empty.
func (f *fixture) logIn(pending string, d *device) (*identity.LoginResult, error) {
	f.t.Helper()
	begun, err := f.BeginLogIn(f.t.Context(), pending)
	if err != nil {
		return nil, err
	}
	return f.LogIn(f.t.Context(), pending, d.get(f.t, begun), client)
}

func wants(t *testing.T, err error, code problem.Code, text string) {
	t.Helper()
	if err == nil || problem.CodeOf(err) != code || !strings.Contains(fmt.Sprintf("%+v %v", problem.From(err).Faults, err), text) {
		t.Errorf("the error is %v %+v, not %s with %q", err, problem.From(err).Faults, code, text)
	}
}

// An authenticator app that was enrolled before the first passkey is not switched on by a session alone after it: its codes would go
// around the passkey.
func TestAppIsNotConfirmedBesideAPasskey(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	account, caller := f.account()
	app := identitytest.Enrol(t, f.users, account)
	_, codes := f.add(caller)
	wants(t, f.users.ConfirmTOTP(t.Context(), caller, app.Code(t, 0), client), problem.CodeInvalidState, "no second factor to confirm")
	in, err := f.users.LogIn(t.Context(), account.Email, identitytest.Password, client)
	if err != nil || in.User.TOTPEnabled || in.Pending == "" {
		t.Fatalf("the log-in asks for %+v, %v", in, err)
	}
	if in, err = f.users.LogInTOTP(t.Context(), in.Pending, codes[0], client); err != nil || in.Token == "" {
		t.Errorf("a recovery code made with the passkey: %+v, %v", in, err)
	}
}

func TestPasskeyAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	account, caller := f.account()
	d, codes := f.add(caller)
	if len(codes) != 10 {
		t.Errorf("there are %d recovery codes", len(codes))
	}
	in, err := f.logIn("", d)
	if err != nil {
		t.Fatal(err)
	}
	if in.User.ID != account.ID || in.Token == "" || in.Pending != "" {
		t.Errorf("logged in is %+v", in)
	}
	if got := f.Value("SELECT by_passkey || ' ' || second_factor FROM sessions ORDER BY id DESC LIMIT 1"); got != "true passkey" {
		t.Errorf("the session says %s", got)
	}
	if got := f.Value("SELECT method FROM logins ORDER BY id DESC LIMIT 1"); got != "passkey" {
		t.Errorf("the history says %s", got)
	}
	// A session alone neither voids the codes that are kept nor adds what is weaker.
	_, err = f.users.EnrollTOTP(t.Context(), caller)
	wants(t, err, problem.CodeInvalidState, "is already enabled")
	// Another one brings no codes: those are there.
	if _, codes := f.add(caller, func(d *device) { d.Options.BackupEligible, d.Options.BackupState = true, true }); codes != nil {
		t.Errorf("there are %d new recovery codes", len(codes))
	}
	all, err := f.users.Passkeys(t.Context(), account.ID)
	if err != nil || len(all) != 2 || all[0].LastUsedAt == nil || all[1].LastUsedAt != nil || all[0].BackedUp || !all[1].BackedUp {
		t.Errorf("passkeys are %+v, %v", all, err)
	}
}

func TestPasskeyAsSecondFactor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	account, caller := f.account()
	d, codes := f.add(caller)
	pending := func() string {
		t.Helper()
		in, err := f.users.LogIn(t.Context(), account.Email, identitytest.Password, client)
		if err != nil {
			t.Fatal(err)
		}
		if in.Token != "" || in.Pending == "" {
			t.Fatal("the password alone lets in")
		}
		return in.Pending
	}
	// It need not ask for a finger: the password was proven.
	d.Options.UserNotVerified = true
	if in, err := f.logIn(pending(), d); err != nil || in.User.ID != account.ID {
		t.Fatalf("%+v, %v", in, err)
	}
	_, err := f.logIn("", d)
	wants(t, err, problem.CodeInvalidCredentials, "has not proven")
	if in, err := f.users.LogInTOTP(t.Context(), pending(), codes[0], client); err != nil || in.Token == "" {
		t.Errorf("a recovery code does not let in: %v", err)
	}
	_, err = f.users.LogInTOTP(t.Context(), pending(), "123456", client)
	wants(t, err, problem.CodeInvalidCredentials, "wrong")

	// Another account's passkey is none for this log-in, though it may log in by itself.
	_, stranger := f.account()
	other, _ := f.add(stranger)
	_, err = f.logIn(pending(), other)
	wants(t, err, problem.CodeInvalidCredentials, "has not proven")
	begun, err := f.BeginLogIn(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.LogIn(t.Context(), pending(), d.get(t, begun), client)
	wants(t, err, problem.CodeInvalidCredentials, "has expired or was already answered")
	_, err = f.logIn("no-such-log-in", d)
	wants(t, err, problem.CodeInvalidCredentials, "has expired or was already answered")

	// The last one takes codes and waiting log-ins with it, and the password alone lets in again.
	waiting, all := pending(), f.Value("SELECT string_agg(id::text, ' ') FROM passkeys WHERE name = 'Laptop' AND user_id = "+
		"(SELECT min(user_id) FROM passkeys)")
	if all == "" || strings.Contains(all, " ") {
		t.Fatalf("passkeys are %s", all)
	}
	var id int64
	if err := json.Unmarshal([]byte(all), &id); err != nil {
		t.Fatal(err)
	}
	wants(t, f.users.DeletePasskey(t.Context(), caller, id, "wrong"), problem.CodeInvalid, "current password")
	wants(t, f.users.DeletePasskey(t.Context(), stranger, id, identitytest.Password), problem.CodeNotFound, "")
	byKey := *caller
	byKey.SessionID = 0
	wants(t, f.users.DeletePasskey(t.Context(), &byKey, id, identitytest.Password), problem.CodeInvalidState, "in a session")
	if err := f.users.DeletePasskey(t.Context(), caller, id, identitytest.Password); err != nil {
		t.Fatal(err)
	}
	_, err = f.logIn(waiting, d)
	wants(t, err, problem.CodeInvalidCredentials, "has expired or was already answered")
	if left := f.Value("SELECT count(*) FROM recovery_codes WHERE user_id = (SELECT min(id) FROM users)"); left != "0" {
		t.Errorf("%s recovery codes are left", left)
	}
	if in, err := f.users.LogIn(t.Context(), account.Email, identitytest.Password, client); err != nil || in.Token == "" {
		t.Errorf("the password alone does not let in: %v", err)
	}
	_, err = f.logIn("", d)
	wants(t, err, problem.CodeInvalidCredentials, "not registered here")
}

// A log-in by somebody else's work is not taken.
func TestAttacksOnLogIn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	account, caller := f.account()
	d, _ := f.add(caller)
	victim, _ := f.account()
	for name, s := range map[string]struct {
		edit func(*device)
		text string
	}{
		"another origin":         {func(d *device) { d.party.Origin = "https://hostler.example.evil.test" }, "has not proven"},
		"the origin without TLS": {func(d *device) { d.party.Origin = "http://hostler.example" }, "has not proven"},
		"another port":           {func(d *device) { d.party.Origin = "https://hostler.example:8443" }, "has not proven"},
		"another service":        {func(d *device) { d.party.ID = "evil.test" }, "has not proven"},
		"a subdomain":            {func(d *device) { d.party.ID = "a.hostler.example" }, "has not proven"},
		"another key":            {func(d *device) { d.Key = newCredential().Key }, "has not proven"},
		"nobody there":           {func(d *device) { d.Options.UserNotPresent = true }, "has not proven"},
		"without a finger":       {func(d *device) { d.Options.UserNotVerified = true }, "has not proven"},
		"another handle":         {func(d *device) { d.Options.UserHandle = []byte("someone") }, "has not proven"},
		"no handle":              {func(d *device) { d.Options.UserHandle = nil }, "has not proven"},
		"an unknown passkey":     {func(d *device) { d.ID = []byte("never seen") }, "not registered here"},
		"it became one that is copied": {func(d *device) { d.Options.BackupEligible, d.Options.BackupState = true, true },
			"has not proven"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := *d
			s.edit(&changed)
			_, err := f.logIn("", &changed)
			wants(t, err, problem.CodeInvalidCredentials, s.text)
		})
	}
	t.Run("not JSON, and huge", func(t *testing.T) {
		for _, text := range []string{"", "{", "[]", "null", `{"id":"` + strings.Repeat("A", 16<<10) + `"}`} {
			begun, err := f.BeginLogIn(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.LogIn(t.Context(), "", passkey.Response{Ceremony: begun.Ceremony, Credential: json.RawMessage(text)}, client)
			wants(t, err, problem.CodeInvalidCredentials, "is not readable")
		}
	})
	t.Run("replay", func(t *testing.T) {
		begun, err := f.BeginLogIn(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		answer := d.get(t, begun)
		var group sync.WaitGroup
		let, errs := make([]bool, 4), make([]error, 4)
		for i := range let {
			group.Go(func() {
				var in *identity.LoginResult
				in, errs[i] = f.LogIn(t.Context(), "", answer, client)
				let[i] = in != nil
			})
		}
		group.Wait()
		n := 0
		for i := range let {
			if let[i] {
				n++
			} else {
				wants(t, errs[i], problem.CodeInvalidCredentials, "already answered")
			}
		}
		if n != 1 {
			t.Errorf("one answer has let in %d times: %v", n, errs)
		}
		// The signature is of another challenge.
		again, err := f.BeginLogIn(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		answer.Ceremony = again.Ceremony
		_, err = f.LogIn(t.Context(), "", answer, client)
		wants(t, err, problem.CodeInvalidCredentials, "has not proven")
	})
	t.Run("too late", func(t *testing.T) {
		begun, err := f.BeginLogIn(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		f.now = f.now.Add(passkey.CeremonyLifetime)
		_, err = f.LogIn(t.Context(), "", d.get(t, begun), client)
		wants(t, err, problem.CodeInvalidCredentials, "has expired or was already answered")
	})
	t.Run("a ceremony of one's own", func(t *testing.T) {
		begun, err := f.BeginLogIn(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		forged := *begun
		forged.Ceremony = "A" + begun.Ceremony[1:]
		if forged.Ceremony == begun.Ceremony {
			forged.Ceremony = "B" + begun.Ceremony[1:]
		}
		_, err = f.LogIn(t.Context(), "", d.get(t, &forged), client)
		wants(t, err, problem.CodeInvalidCredentials, "has expired or was already answered")
		// One that is for the making of a passkey is none for a log-in.
		adding, err := f.BeginAdd(t.Context(), caller, identitytest.Password)
		if err != nil {
			t.Fatal(err)
		}
		mixed := d.get(t, begun)
		mixed.Ceremony = adding.Ceremony
		_, err = f.LogIn(t.Context(), "", mixed, client)
		wants(t, err, problem.CodeInvalidCredentials, "has expired or was already answered")
	})
	t.Run("counter", func(t *testing.T) {
		counting := *d
		counting.Counter = 5
		if _, err := f.logIn("", &counting); err != nil {
			t.Fatal(err)
		}
		for _, count := range []uint32{5, 4, 0} {
			counting.Counter = count
			_, err := f.logIn("", &counting)
			wants(t, err, problem.CodeInvalidCredentials, "may be a copy")
		}
		counting.Counter = 6
		if _, err := f.logIn("", &counting); err != nil {
			t.Error(err)
		}
	})
	t.Run("inactive, without a password, reset", func(t *testing.T) {
		d.Counter = 100
		f.Exec("UPDATE users SET is_active = false WHERE id = $1", account.ID)
		_, err := f.logIn("", d)
		wants(t, err, problem.CodeInvalidCredentials, "not registered here")
		f.Exec("UPDATE users SET is_active = true, password_hash = '' WHERE id = $1", account.ID)
		_, err = f.logIn("", d)
		wants(t, err, problem.CodeInvalidCredentials, "log in with its provider")
		admin := &identity.Caller{UserID: victim.ID, Email: victim.Email, SessionID: 8,
			Teams: map[int64]identity.Role{identity.DefaultTeam: identity.Owner}}
		if err := f.users.ResetTOTP(t.Context(), admin, account.ID); err != nil {
			t.Fatal(err)
		}
		if n := f.Value("SELECT count(*) || ' ' || (SELECT sum(passkeys) FROM users) FROM passkeys"); n != "0 0" {
			t.Errorf("after a reset there are %s passkeys", n)
		}
	})
}

// A passkey is made only in the session that has proven the password, and only of what the authenticator has made for it.
func TestAttacksOnAdding(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, caller := f.account()
	_, other := f.account()
	_, err := f.BeginAdd(t.Context(), caller, "wrong")
	wants(t, err, problem.CodeInvalid, "current password")
	_, err = f.BeginAdd(t.Context(), &identity.Caller{UserID: caller.UserID, Email: caller.Email}, identitytest.Password)
	wants(t, err, problem.CodeInvalidState, "API key")
	begin := func() *passkey.CeremonyStart {
		t.Helper()
		begun, err := f.BeginAdd(t.Context(), caller, identitytest.Password)
		if err != nil {
			t.Fatal(err)
		}
		return begun
	}
	for name, edit := range map[string]func(*device){
		"another origin":  func(d *device) { d.party.Origin = "https://evil.test" },
		"another service": func(d *device) { d.party.ID = "evil.test" },
		"nobody there":    func(d *device) { d.Options.UserNotPresent = true },
	} {
		t.Run(name, func(t *testing.T) {
			_, a := f.create(begin(), edit)
			_, _, err := f.Add(t.Context(), caller, "Laptop", a)
			wants(t, err, problem.CodeInvalid, "not trusted")
		})
	}
	_, a := f.create(begin())
	_, _, err = f.Add(t.Context(), other, "Laptop", a)
	wants(t, err, problem.CodeInvalid, "another session")
	_, _, err = f.Add(t.Context(), &identity.Caller{UserID: caller.UserID, Email: caller.Email, SessionID: 9}, "Laptop", a)
	wants(t, err, problem.CodeInvalid, "another session")
	begun := begin()
	first, a := f.create(begun)
	if _, _, err := f.Add(t.Context(), caller, "Laptop", a); err != nil {
		t.Fatal(err)
	}
	_, _, err = f.Add(t.Context(), caller, "Laptop", a)
	wants(t, err, problem.CodeInvalid, "already answered")
	// One authenticator's passkey is one account's, here and everywhere.
	again, err := f.BeginAdd(t.Context(), other, identitytest.Password)
	if err != nil {
		t.Fatal(err)
	}
	_, a = f.create(again, func(d *device) { d.Credential = first.Credential })
	_, _, err = f.Add(t.Context(), other, "Mine", a)
	wants(t, err, problem.CodeInvalidState, "already registered")
	for _, name := range []string{"", strings.Repeat("x", identity.MaxPasskeyName+1)} {
		_, a := f.create(begin())
		_, _, err := f.Add(t.Context(), caller, name, a)
		wants(t, err, problem.CodeInvalid, "characters")
	}
	f.Exec("INSERT INTO passkeys (user_id, name, credential_id, public_key, sign_count, transports, user_verified, backup_eligible, "+
		"backed_up) SELECT $1, 'x', decode(lpad(to_hex(n), 8, '0'), 'hex'), '', 0, '{}', true, false, false "+
		"FROM generate_series(1, 19) n", caller.UserID)
	_, err = f.BeginAdd(t.Context(), caller, identitytest.Password)
	wants(t, err, problem.CodeInvalidState, "20 passkeys")
}

func TestAddressesWithoutPasskeys(t *testing.T) {
	t.Parallel()
	keys := identitytest.Keys(t)
	for base, usable := range map[string]bool{
		"": false, "http://hostler.example": false, "https://192.0.2.1": false, "https://[2001:db8::1]:8443": false, "ftp://x": false,
		"https://hostler.example:8443/sub": true, "http://localhost:8080": true, "https://lab": false,
	} {
		_, err := passkey.New(passkey.Config{BaseURL: base, Keys: keys}).BeginLogIn(t.Context(), "")
		if (err == nil) != usable {
			t.Errorf("%q: %v", base, err)
		}
	}
	_, err := passkey.New(passkey.Config{}).BeginLogIn(t.Context(), "")
	wants(t, err, problem.CodeInvalidState, "HOSTLER_BASE_URL")
}
