package identity_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"image/color"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boombuler/barcode/qr"
	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/proxy"
	"github.com/hostler/hostler/core/secret"
)

// factored is a user with a second factor switched on.
type factored struct {
	t     *testing.T
	db    *db.DB
	users *identity.Store
	user  *identitytest.Account
	*identitytest.Factor
}

func newFactored(t *testing.T) *factored {
	t.Helper()
	f := &factored{t: t, db: dbtest.New(t)}
	f.users = identitytest.NewSealing(t, f.db)
	f.user = identitytest.As(t, f.users, identity.Operator)
	f.Factor = identitytest.TOTP(t, f.users, f.user)
	return f
}

// fresh forgets that codes were used, so that the present one is good.
func (f *factored) fresh() string {
	f.t.Helper()
	dbtest.Exec(f.t, f.db, "UPDATE users SET totp_last_step = NULL WHERE id = $1", f.user.ID)
	return f.Code(f.t, 0)
}

// pending is a log-in whose password was given rightly.
func (f *factored) pending() string {
	f.t.Helper()
	in, err := f.users.LogIn(context.WithoutCancel(f.t.Context()), f.user.Email, identitytest.Password, from("192.0.2.7"))
	if err != nil {
		f.t.Fatal(err)
	}
	if in.Pending == "" || in.Token != "" || in.User.ID != f.user.ID {
		f.t.Fatalf("%+v", in)
	}
	return in.Pending
}

func (f *factored) complete(pending, code string) (*identity.LoginResult, error) {
	return f.users.LogInTOTP(context.WithoutCancel(f.t.Context()), pending, code, from("192.0.2.8"))
}

// refused expects no session for the code.
func (f *factored) refused(name, pending, typed string) {
	f.t.Helper()
	if in, err := f.complete(pending, typed); in != nil || code(err) != problem.CodeInvalidCredentials {
		f.t.Errorf("%s: %+v, %v", name, in, err)
	}
}

func TestLogInWithASecondFactor(t *testing.T) {
	t.Parallel()
	f := newFactored(t)
	sessions := dbtest.Value[int](f.t, f.db, "SELECT count(*) FROM sessions")
	pending := f.pending()
	if dbtest.Value[int](f.t, f.db, "SELECT count(*) FROM sessions") != sessions {
		t.Error("the password alone opened a session")
	}
	// The first step's secret is no session, as a cookie or as a key.
	c := identity.Cookie(pending, proxy.Site{Path: "/"})
	for name, r := range map[string]*http.Request{"cookie": with(&c), "key": bearing("Bearer " + pending),
		"key with mark": bearing("Bearer svc_" + pending)} {
		if _, err := f.users.Authenticate(t.Context(), r); code(err) != problem.CodeUnauthenticated {
			t.Errorf("%s: %v", name, err)
		}
	}
	in, err := f.complete(pending, f.Code(t, 1))
	if err != nil || in.Token == "" || in.Pending != "" || in.User.ID != f.user.ID || in.Token == pending || !in.User.TOTPEnabled {
		t.Fatalf("%+v, %v", in, err)
	}
	c = identity.Cookie(in.Token, proxy.Site{Path: "/"})
	if caller, err := f.users.Authenticate(t.Context(), with(&c)); err != nil || caller.UserID != f.user.ID {
		t.Errorf("%+v, %v", caller, err)
	}
	f.refused("the same log-in again", pending, f.fresh())
}

// A code of the authenticator is good once, at the confirmation too, and so is every step before it.
func TestACodeIsGoodOnce(t *testing.T) {
	t.Parallel()
	f := newFactored(t)
	now := f.Code(t, 0)
	f.refused("the code of the confirmation", f.pending(), now)
	next := f.Code(t, 1)
	if _, err := f.complete(f.pending(), " "+next[:3]+" "+next[3:]+" "); err != nil {
		t.Errorf("the next code with blanks: %v", err)
	}
	f.refused("the same code in a new log-in", f.pending(), next)
	f.refused("an earlier one", f.pending(), now)
	for name, typed := range map[string]string{
		"empty": "", "letters": "abcdef", "five digits": next[:5], "seven": next + "0", "two steps ahead": f.Code(t, 3),
		"long ago":     f.Code(t, -3),
		"other digits": "\u0661\u0662\u0663\u0664\u0665\u0666", "NUL": "12345\x00", "SQL": "' OR 1=1 --", "long": strings.Repeat("1", 1<<16),
		"not UTF-8": "\xff\xfe",
	} {
		dbtest.Exec(t, f.db, "DELETE FROM login_failures")
		f.refused(name, f.pending(), typed)
	}
}

// The codes are those of RFC 6238, and the picture is the QR code of the address.
func TestEnrolmentIsWhatAuthenticatorsRead(t *testing.T) {
	t.Parallel()
	f := newFactored(t)
	dbtest.Exec(t, f.db, "UPDATE users SET totp_secret = NULL, totp_confirmed_at = NULL")
	e := identitytest.Enrol(t, f.users, f.user)
	u, err := url.Parse(e.URI)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if u.Scheme != "otpauth" || u.Host != "totp" || u.Path != "/Hostler:"+f.user.Email || q.Get("secret") != e.Secret ||
		q.Get("issuer") != "Hostler" ||
		q.Get("digits") != "6" || q.Get("period") != "30" || q.Get("algorithm") != "SHA1" {
		t.Errorf("%s", e.URI)
	}
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(q.Get("secret"))
	if err != nil || len(key) < 20 {
		t.Errorf("%d bytes of secret, %v", len(key), err)
	}
	before := time.Now()
	got := e.Code(t, 0)
	want := []string{rfc6238(key, before), rfc6238(key, time.Now())} // two where a step ends meanwhile
	if !slices.Contains(want, got) {
		t.Errorf("the code is %s, want one of %s", got, want)
	}
	checkPicture(t, e.QR, e.URI)
	seen := map[string]bool{}
	for _, code := range e.RecoveryCodes {
		raw, err := base32.StdEncoding.DecodeString(strings.ReplaceAll(code, "-", ""))
		if err != nil || len(raw) < 10 || seen[code] {
			t.Errorf("the recovery code %s: %d bytes, %v", code, len(raw), err)
		}
		seen[code] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d recovery codes", len(seen))
	}
	var row string
	if err := f.db.Pool.QueryRow(t.Context(),
		"SELECT u::text || (SELECT string_agg(r::text, '') FROM recovery_codes r) FROM users u").Scan(&row); err != nil {
		t.Fatal(err)
	}
	for _, secret := range append(e.RecoveryCodes, e.Secret, fmt.Sprintf("%x", key), fmt.Sprintf("%x", e.Secret)) {
		if strings.Contains(row, secret) {
			t.Errorf("%s is in the database as it is", secret)
		}
	}
}

func rfc6238(key []byte, at time.Time) string {
	mac := hmac.New(sha1.New, key)
	_ = binary.Write(mac, binary.BigEndian, at.Unix()/30)
	sum := mac.Sum(nil)
	at4 := sum[len(sum)-1] & 15
	return fmt.Sprintf("%06d", (binary.BigEndian.Uint32(sum[at4:at4+4])&0x7fffffff)%1_000_000)
}

// checkPicture draws the path by hand and holds it against the code module by module.
func checkPicture(t *testing.T, svg, text string) {
	t.Helper()
	var picture struct {
		ViewBox   string `xml:"viewBox,attr"`
		Rendering string `xml:"shape-rendering,attr"`
		Path      []struct {
			D string `xml:"d,attr"`
		} `xml:"path"`
	}
	if err := xml.Unmarshal([]byte(svg), &picture); err != nil || len(picture.Path) != 1 || picture.Rendering != "crispEdges" {
		t.Fatalf("%v %+v", err, picture)
	}
	want, err := qr.Encode(text, qr.M, qr.Unicode)
	if err != nil {
		t.Fatal(err)
	}
	side := want.Bounds().Dx()
	if whole := fmt.Sprintf("0 0 %d %d", side+8, side+8); picture.ViewBox != whole {
		t.Errorf("the picture is %s, want %s", picture.ViewBox, whole)
	}
	dark := map[[2]int]bool{}
	for piece := range strings.SplitSeq(strings.TrimPrefix(picture.Path[0].D, "M"), "M") {
		var x, y, n, back int
		if _, err := fmt.Sscanf(piece, "%d %dh%dv1h-%dz", &x, &y, &n, &back); err != nil || n != back {
			t.Fatalf("%q: %v", piece, err)
		}
		for i := range n {
			dark[[2]int{x + i - 4, y - 4}] = true
		}
	}
	for x := -4; x < side+4; x++ {
		for y := -4; y < side+4; y++ {
			inside := x >= 0 && y >= 0 && x < side && y < side
			if dark[[2]int{x, y}] != (inside && want.At(x, y) == color.Black) {
				t.Fatalf("the module at %d, %d is wrong", x, y)
			}
		}
	}
	if len(svg) > 32<<10 {
		t.Errorf("the picture has %d bytes", len(svg))
	}
}

func TestEnrolmentCountsOnceConfirmed(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.NewSealing(t, d)
	user := identitytest.As(t, s, identity.Viewer)
	me := callerOf(user)
	confirm := func(code string) error { return s.ConfirmTOTP(t.Context(), me, code, from("192.0.2.1")) }
	if err := confirm("123456"); code(err) != problem.CodeInvalidState {
		t.Errorf("nothing to confirm: %v", err)
	}
	first := identitytest.Enrol(t, s, user)
	if in := identitytest.LogIn(t, s, user.User); in.TOTPEnabled {
		t.Error("an enrolment has an effect before it is confirmed")
	}
	second := identitytest.Enrol(t, s, user)
	for name, typed := range map[string]string{"of the first enrolment": first.Code(t, 0), "a recovery code": second.RecoveryCodes[0],
		"empty": "", "none": "x"} {
		err := confirm(typed)
		if p := problem.From(err); p.Code != problem.CodeInvalid || len(p.Faults) != 1 || fmt.Sprint(p.Faults[0].Loc) != "[body code]" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := confirm(second.Code(t, 0)); err != nil {
		t.Fatal(err)
	}
	if u, err := s.User(t.Context(), user.ID); err != nil || !u.TOTPEnabled {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err := s.EnrollTOTP(t.Context(), me); code(err) != problem.CodeInvalidState {
		t.Errorf("a second enrolment: %v", err)
	}
	if err := confirm(second.Code(t, 1)); code(err) != problem.CodeInvalidState {
		t.Errorf("a second confirmation: %v", err)
	}
	key := &identity.Caller{UserID: user.ID, Email: user.Email, KeyID: 1}
	if _, err := s.EnrollTOTP(t.Context(), key); code(err) != problem.CodeInvalidState {
		t.Errorf("enrolled by a key: %v", err)
	}
	if err := s.ConfirmTOTP(t.Context(), key, second.Code(t, 0), from("")); code(err) != problem.CodeInvalidState {
		t.Errorf("confirmed by a key: %v", err)
	}
	// Switching it off.
	if err := s.DisableTOTP(t.Context(), me, wrong); problem.From(err).Faults == nil ||
		fmt.Sprint(problem.From(err).Faults[0].Loc) != "[body password]" {
		t.Errorf("a wrong password: %v", err)
	}
	if err := s.DisableTOTP(t.Context(), me, identitytest.Password); err != nil {
		t.Fatal(err)
	}
	if err := s.DisableTOTP(t.Context(), me, identitytest.Password); code(err) != problem.CodeInvalidState {
		t.Errorf("off already: %v", err)
	}
	var left int
	if err := d.Pool.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM recovery_codes) + (SELECT count(*) FROM users WHERE totp_secret "+
		"IS NOT NULL OR totp_last_step IS NOT NULL)").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d traces are left, %v", left, err)
	}
	if in := identitytest.LogIn(t, s, user.User); in.TOTPEnabled {
		t.Error("the second factor is still on")
	}
}

func TestRecoveryCodes(t *testing.T) {
	t.Parallel()
	f := newFactored(t)
	codes := f.RecoveryCodes
	for i, typed := range []string{codes[0], strings.ToLower(codes[1]), strings.ReplaceAll(codes[2], "-", ""),
		" " + strings.ReplaceAll(strings.ToLower(codes[3]), "-", " ") + " "} {
		if _, err := f.complete(f.pending(), typed); err != nil {
			t.Errorf("%q: %v", typed, err)
		}
		f.refused("again", f.pending(), typed)
		if left, err := f.users.RecoveryCodesLeft(t.Context(), f.user.ID); err != nil || left != 9-i {
			t.Errorf("%d codes are left, %v", left, err)
		}
	}
	f.refused("cut", f.pending(), codes[5][:18])
	other := identitytest.As(t, f.users, identity.Viewer)
	theirs := identitytest.TOTP(t, f.users, other)
	f.refused("someone else's", f.pending(), theirs.RecoveryCodes[0])
	// A recovery code uses no step up.
	if _, err := f.complete(f.pending(), f.Code(t, 1)); err != nil {
		t.Error(err)
	}
}

func TestPendingLogInsEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(f *factored){
		"time":         func(f *factored) { dbtest.Exec(f.t, f.db, "UPDATE pending_logins SET expires_at = now()") },
		"another hash": func(f *factored) { dbtest.Exec(f.t, f.db, "UPDATE users SET password_hash = password_hash || 'x'") },
		"deactivation": func(f *factored) { deactivate(f.t, f.db, f.user.ID) },
		"deletion":     func(f *factored) { dbtest.Exec(f.t, f.db, "DELETE FROM users WHERE id = $1", f.user.ID) },
		"prune": func(f *factored) {
			dbtest.Exec(f.t, f.db, "UPDATE pending_logins SET expires_at = now()")
			_, _ = f.users.Prune(f.t.Context())
		},
		"five wrong":      func(f *factored) { dbtest.Exec(f.t, f.db, "UPDATE pending_logins SET tries = 5") },
		"password change": (*factored).changePassword,
		"switched off": func(f *factored) {
			if err := f.users.DisableTOTP(f.t.Context(), callerOf(f.user), identitytest.Password); err != nil {
				f.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFactored(t)
			pending := f.pending()
			end(f)
			f.refused("a code", pending, f.fresh())
			f.refused("a recovery code", pending, f.RecoveryCodes[0])
			if n := dbtest.Value[int](f.t, f.db, "SELECT count(*) FROM sessions WHERE address = '192.0.2.8'"); n != 0 {
				t.Errorf("%d sessions", n)
			}
		})
	}
	f := newFactored(t)
	for _, pending := range []string{"", "x", strings.Repeat("A", 43), strings.Repeat("A", 1<<16), "\x00", "' OR 1=1 --"} {
		f.refused("an invented log-in", pending, f.Code(t, 1))
	}
	for range 3 {
		f.pending()
	}
	dbtest.Exec(t, f.db, "INSERT INTO pending_logins (token_hash, user_id, password_mark, expires_at, created_at) SELECT "+
		"sha256(i::text::bytea), $1, '', now() + interval '1 hour', now() - interval '1 second' FROM generate_series(1, 150) i", f.user.ID)
	f.pending()
	if n := dbtest.Value[int](f.t, f.db, "SELECT count(*) FROM pending_logins"); n != 100 {
		t.Errorf("%d log-ins wait", n)
	}
}

func (f *factored) changePassword() {
	f.t.Helper()
	_, err := f.users.ChangePassword(f.t.Context(), &identity.Caller{UserID: f.user.ID, Email: f.user.Email, KeyID: 1},
		change(identitytest.Password, "mehlwurm-zebra-19"), from(""))
	if err != nil {
		f.t.Fatal(err)
	}
}

// Guesses are limited for the log-in, for the account over all its log-ins, and for the address.
func TestGuessesAtTheSecondFactorAreLimited(t *testing.T) {
	t.Parallel()
	f := newFactored(t)
	pending, made := f.pending(), 0
	for i := range 5 {
		_, err := f.complete(pending, "000000")
		if left := problem.From(err).Members["tries_left"]; code(err) != problem.CodeInvalidCredentials || left != 4-i {
			t.Errorf("try %d: %v, %v left", i, err, left)
		}
		made++
	}
	f.refused("the right code as the sixth", pending, f.Code(t, 1))
	// New log-ins with the right password, from anywhere, give no further guesses than the account has.
	for i := range 20 {
		p := f.pending()
		_, err := f.users.LogInTOTP(t.Context(), p, "000000", from(fmt.Sprintf("198.51.100.%d", i)))
		if code(err) == problem.CodeRateLimited {
			if problem.From(err).RetryAfter < 1 || problem.From(err).RetryAfter > 901 {
				t.Errorf("wait for %d s", problem.From(err).RetryAfter)
			}
			break
		}
		made++
	}
	if made != 10 {
		t.Errorf("%d guesses were possible", made)
	}
	for name, typed := range map[string]string{"the right code": f.Code(t, 1), "a recovery code": f.RecoveryCodes[0]} {
		if _, err := f.complete(f.pending(), typed); code(err) != problem.CodeRateLimited {
			t.Errorf("%s beyond the limit: %v", name, err)
		}
	}
	dbtest.Exec(t, f.db, "UPDATE login_failures SET window_ends = now() - interval '1 second'")
	if _, err := f.complete(f.pending(), f.Code(t, 1)); err != nil {
		t.Errorf("after the window: %v", err)
	}
	// From one address: over accounts, and with invented log-ins too.
	tries := 0
	for ; tries < 100; tries++ {
		address := fmt.Sprintf("2001:db8:1:2:%x::1", tries)
		if _, err := f.users.LogInTOTP(t.Context(), strings.Repeat("A", 43), "000000", from(address)); code(err) == problem.CodeRateLimited {
			break
		}
	}
	if tries != 30 {
		t.Errorf("%d tries from one /64", tries)
	}
}

// A success gives its own try back and forgives no wrong one: who knows the password must not profit from its owner's
// log-ins.
func TestSuccessForgivesNoWrongCode(t *testing.T) {
	t.Parallel()
	f := newFactored(t)
	for range 3 {
		f.refused("wrong", f.pending(), "000000")
	}
	if _, err := f.complete(f.pending(), f.fresh()); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Value[int](f.t, f.db, "SELECT failures FROM login_failures WHERE bucket LIKE 'totp:%'"); n != 3 {
		t.Errorf("%d wrong codes are counted", n)
	}
}

func TestGuessesAtTheConfirmationAreLimited(t *testing.T) {
	t.Parallel()
	s := identitytest.NewSealing(t, dbtest.New(t))
	user := identitytest.As(t, s, identity.Viewer)
	f := identitytest.Enrol(t, s, user)
	for i := range 11 {
		err := s.ConfirmTOTP(t.Context(), callerOf(user), "000000", from("192.0.2.1"))
		if want := map[bool]problem.Code{false: problem.CodeInvalid, true: problem.CodeRateLimited}[i == 10]; code(err) != want {
			t.Fatalf("try %d: %v", i, err)
		}
	}
	if err := s.ConfirmTOTP(t.Context(), callerOf(user), f.Code(t, 0), from("192.0.2.2")); code(err) != problem.CodeRateLimited {
		t.Errorf("the right code: %v", err)
	}
}

// Without the key nobody gets in by a code or without one; the log says why, and a recovery code still works.
func TestASecretThatDoesNotOpenLetsNobodyIn(t *testing.T) {
	t.Parallel()
	f := newFactored(t)
	log := &strings.Builder{}
	logger := hclog.New(&hclog.LoggerOptions{Output: log, Mutex: &sync.Mutex{}})
	for name, keys := range map[string]secret.Keys{"another key": identitytest.Keys(t), "none": nil} {
		log.Reset()
		s := identity.New(f.db, identity.Config{Argon2: identitytest.CheapHash, Keys: keys, Logger: logger})
		in, err := s.LogInTOTP(t.Context(), f.pending(), f.Code(t, 1), from("192.0.2.8"))
		if in != nil || code(err) != problem.CodeInternal {
			t.Errorf("%s: %+v, %v", name, in, err)
		}
		if !strings.Contains(log.String(), "its secret cannot be decrypted") || !strings.Contains(log.String(), fmt.Sprintf("user_id=%d",
			f.user.ID)) {
			t.Errorf("%s: the log says %q", name, log)
		}
		if n := dbtest.Value[int](f.t, f.db, "SELECT COALESCE(sum(failures), 0) FROM login_failures WHERE bucket LIKE 'totp:%'"); n != 0 {
			t.Errorf("%s: a try that was not made is counted", name)
		}
		if _, err := s.LogInTOTP(t.Context(), f.pending(), f.RecoveryCodes[len(name)%10], from("192.0.2.8")); err != nil {
			t.Errorf("%s: a recovery code: %v", name, err)
		}
	}
	// A secret that was moved from another account does not open either.
	other := identitytest.As(t, f.users, identity.Viewer)
	theirs := identitytest.TOTP(t, f.users, other)
	dbtest.Exec(t, f.db, "UPDATE users SET totp_secret = (SELECT totp_secret FROM users WHERE id = $2) WHERE id = $1", f.user.ID, other.ID)
	if in, err := f.complete(f.pending(), theirs.Code(t, 1)); in != nil || code(err) != problem.CodeInternal {
		t.Errorf("a secret that was moved: %+v, %v", in, err)
	}
}

func successes(errs []error) int {
	return len(slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err != nil }))
}

const rounds = 25

func TestOneOfTwoLogInsWithOneCodeWins(t *testing.T) {
	if testing.Short() {
		t.Skip("lets requests race: make check runs it")
	}
	t.Parallel()
	f := newFactored(t)
	for round := range rounds {
		dbtest.Exec(t, f.db, "DELETE FROM login_failures")
		one, two, code := f.pending(), f.pending(), f.fresh()
		if round%3 == 0 {
			two = one
		}
		if round%2 == 1 {
			code = f.RecoveryCodes[0]
			dbtest.Exec(t, f.db, "DELETE FROM recovery_codes")
			f.refill()
		}
		before := dbtest.Value[int](f.t, f.db, "SELECT count(*) FROM sessions")
		try := func(pending string) func() error {
			return func() error { _, err := f.complete(pending, code); return err }
		}
		errs := atOnce(try(one), try(two), try(one))
		if n := dbtest.Value[int](f.t, f.db, "SELECT count(*) FROM sessions") - before; successes(errs) != 1 || n != 1 {
			t.Fatalf("round %d: %d sessions, %v", round, n, errs)
		}
	}
}

// refill makes the first recovery code good again.
func (f *factored) refill() {
	f.t.Helper()
	raw, err := base32.StdEncoding.DecodeString(strings.ReplaceAll(f.RecoveryCodes[0], "-", ""))
	if err != nil {
		f.t.Fatal(err)
	}
	dbtest.Exec(f.t, f.db, "INSERT INTO recovery_codes VALUES ($1, sha256($2))", f.user.ID, raw)
}

func TestOneOfTwoConfirmationsWins(t *testing.T) {
	if testing.Short() {
		t.Skip("lets requests race: make check runs it")
	}
	t.Parallel()
	d := dbtest.New(t)
	s := identitytest.NewSealing(t, d)
	user := identitytest.As(t, s, identity.Viewer)
	for round := range rounds {
		dbtest.Exec(t, d, "DELETE FROM login_failures")
		f := identitytest.Enrol(t, s, user)
		now := f.Code(t, 0)
		confirm := func() error {
			return s.ConfirmTOTP(context.WithoutCancel(t.Context()), callerOf(user), now, from("192.0.2.1"))
		}
		enrol := func() error { _, err := s.EnrollTOTP(context.WithoutCancel(t.Context()), callerOf(user)); return err }
		errs := atOnce(confirm, confirm, enrol)
		confirmed := successes(errs[:2])
		if u, err := s.User(t.Context(), user.ID); err != nil || u.TOTPEnabled != (confirmed == 1) || confirmed > 1 {
			t.Fatalf("round %d: %v, %v", round, errs, err)
		}
		dbtest.Exec(t, d, "UPDATE users SET totp_secret = NULL, totp_confirmed_at = NULL, totp_last_step = NULL")
	}
}

// While the factor is switched off a log-in either completes before, or has to begin again.
func TestSwitchingOffAgainstALogIn(t *testing.T) {
	if testing.Short() {
		t.Skip("lets requests race: make check runs it")
	}
	t.Parallel()
	f := newFactored(t)
	for round := range rounds {
		dbtest.Exec(t, f.db, "DELETE FROM login_failures")
		pending, now := f.pending(), f.fresh()
		errs := atOnce(
			func() error { _, err := f.complete(pending, now); return err },
			func() error {
				return f.users.DisableTOTP(context.WithoutCancel(t.Context()), callerOf(f.user), identitytest.Password)
			},
			func() error {
				_, err := f.users.LogIn(context.WithoutCancel(t.Context()), f.user.Email, identitytest.Password, from("192.0.2.9"))
				return err
			},
		)
		for i, err := range errs {
			if err != nil && (i == 1 || code(err) != problem.CodeInvalidCredentials) {
				t.Fatalf("round %d: %v", round, errs)
			}
		}
		if n := dbtest.Value[int](f.t, f.db,
			"SELECT count(*) FROM pending_logins p JOIN users u ON u.id = p.user_id WHERE NOT u.totp_enabled"); n != 0 {
			t.Fatalf("round %d: %d log-ins wait for a factor that is off", round, n)
		}
		f.Factor = identitytest.TOTP(t, f.users, f.user)
	}
}
