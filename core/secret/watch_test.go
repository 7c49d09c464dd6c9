package secret_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/waittest"
)

// journal is what a log wrote.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) count(word string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Count(j.text.String(), word)
}

// machine is one with a copy of the key file of its own.
type machine struct {
	*secret.Box
	path    string
	log     *journal
	changed chan error
	watch   secret.WatchConfig
}

// copyTo puts the key file as it is now in the place of another, as an administrator does.
func (v *fixture) copyTo(t testing.TB, path string) {
	t.Helper()
	text, err := os.ReadFile(v.path)
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// machine loads a copy of the key file, and does not watch it.
func (v *fixture) machine(t testing.TB, every time.Duration) *machine {
	t.Helper()
	m := &machine{path: keyPath(t), log: &journal{}, changed: make(chan error, 10)}
	v.copyTo(t, m.path)
	var err error
	if m.Box, err = secret.Load(t.Context(), m.path, v.used); err != nil {
		t.Fatal(err)
	}
	m.watch = secret.WatchConfig{
		DB: v.db, Tables: tables, Every: every, Changed: func(err error) { m.changed <- err },
		Logger: hclog.New(&hclog.LoggerOptions{Output: m.log, Level: hclog.Debug}),
	}
	return m
}

func (m *machine) begin(t testing.TB) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var watching sync.WaitGroup
	watching.Go(func() { m.Watch(ctx, m.watch) })
	t.Cleanup(func() { stop(); watching.Wait() })
}

// becomes waits until the machine's file is found to have missed a rotation, or to be right again.
func (m *machine) becomes(t testing.TB, outdated bool) {
	t.Helper()
	select {
	case err := <-m.changed:
		if errors.Is(err, secret.ErrOutdated) != outdated || errors.Is(m.Outdated(), secret.ErrOutdated) != outdated {
			t.Fatalf("told %v, is %v", err, m.Outdated())
		}
	case <-time.After(time.Minute):
		t.Fatal("nothing was told for a minute")
	}
}

func (v *fixture) announced(t testing.TB) secret.KeyID {
	t.Helper()
	id, ok, err := secret.AnnouncedKey(t.Context(), v.db.Pool)
	if err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	return id
}

func is(err error, code problem.Code) bool {
	var p *problem.Error
	return errors.As(err, &p) && p.Code == code
}

// The key is rotated on one machine while another one has a copy: that one finds out, does nothing with the old key, says so
// once, and heals with the right file.
func TestWatchFindsAMissedRotation(t *testing.T) {
	t.Parallel()
	for name, every := range map[string]time.Duration{"announced": time.Hour, "the announcement is missed": 50 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newFixture(t, 2)
			if every < time.Hour {
				dbtest.Exec(t, v.db, "DROP TRIGGER secret_key_notify ON secret_key")
			}
			a, b := v.load(t), v.machine(t, every)
			b.begin(t)
			if report, err := a.Rotate(t.Context(), v.rotation()); err != nil || v.announced(t) != report.Primary {
				t.Fatalf("%v; %s is announced, rotated to %s", err, v.announced(t), report.Primary)
			}
			b.becomes(t, true)
			if _, err := b.Seal(secret.New("x"), place); !is(err, problem.CodeKeyOutdated) || !errors.Is(err, secret.ErrOutdated) {
				t.Errorf("sealing: %v", err)
			}
			if _, err := b.Open(seal(t, a, "x", place), place); !is(err, problem.CodeKeyOutdated) {
				t.Errorf("opening: %v", err)
			}
			for range 3 {
				if err := b.CheckKeyFile(t.Context(), b.watch); !errors.Is(err, secret.ErrOutdated) {
					t.Errorf("looking: %v", err)
				}
			}
			if n := b.log.count("[ERROR]"); n != 1 {
				t.Errorf("the log has %d errors, want 1", n)
			}
			v.copyTo(t, b.path)
			b.becomes(t, false)
			if _, err := a.Open(seal(t, b.Box, "x", place), place); err != nil || b.Primary() != a.Primary() {
				t.Errorf("after the right file: %v", err)
			}
			v.check(t, b.Box)
			if n := b.log.count("[ERROR]"); n != 1 {
				t.Errorf("the log has %d errors, want 1", n)
			}
		})
	}
}

// A release that announces nothing has rotated: the values tell.
func TestWatchFindsValuesOfAnotherKey(t *testing.T) {
	t.Parallel()
	v := newFixture(t, 2)
	a, b := v.load(t), v.machine(t, time.Hour)
	old := a.Primary()
	if _, err := a.Rotate(t.Context(), v.rotation()); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, v.db, "UPDATE secret_key SET id = $1", old.String())
	if err := b.CheckKeyFile(t.Context(), b.watch); !errors.Is(err, secret.ErrOutdated) {
		t.Errorf("got %v", err)
	}
	if got := v.announced(t); got != old {
		t.Errorf("an outdated file announced %s", got)
	}
}

// Whoever looks first says which key seals; a file that is newer than what the database says says so anew, an older one never.
func TestLookAnnounces(t *testing.T) {
	t.Parallel()
	v := newFixture(t, 2)
	a, b := v.machine(t, time.Hour), v.machine(t, time.Hour)
	first := a.Primary()
	look := func(m *machine, want secret.KeyID) {
		t.Helper()
		if err := m.CheckKeyFile(t.Context(), m.watch); err != nil || v.announced(t) != want {
			t.Errorf("%v; %s is announced, want %s", err, v.announced(t), want)
		}
	}
	look(a, first)
	look(b, first)
	// A rotation is cut off before it says anything.
	cut := errors.New("cut")
	rotation := v.rotation().Reaching(func(step string) error {
		if step == "key" {
			return cut
		}
		return nil
	})
	if _, err := v.load(t).Rotate(t.Context(), rotation); !errors.Is(err, cut) || v.announced(t) != first {
		t.Fatalf("%v; %s is announced", err, v.announced(t))
	}
	v.copyTo(t, a.path)
	if err := a.CheckKeyFile(t.Context(), a.watch); err != nil {
		t.Fatal(err)
	}
	second := a.Primary()
	if second == first || v.announced(t) != second {
		t.Errorf("%s is announced, the file has %s", v.announced(t), second)
	}
	if err := b.CheckKeyFile(t.Context(), b.watch); !errors.Is(err, secret.ErrOutdated) || v.announced(t) != second {
		t.Errorf("%v; %s is announced", err, v.announced(t))
	}
	// The rotation is finished; then the database is put back to before it.
	if _, err := v.load(t).Rotate(t.Context(), v.rotation()); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, v.db, "UPDATE secret_key SET id = $1", first.String())
	look(a, second)
	v.check(t, a.Box)
}

// A copy that missed a rotation is refused at start and for a rotation, with no sealed value too, and a file that is not there
// is not made anew.
func TestOldCopyIsRefused(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string]int{"sealed values": 2, "none": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newFixture(t, rows)
			b := v.machine(t, time.Hour)
			if _, err := v.load(t).Rotate(t.Context(), v.rotation()); err != nil {
				t.Fatal(err)
			}
			if _, err := secret.Load(t.Context(), b.path, v.used); !errors.Is(err, secret.ErrKeyWrong) {
				t.Errorf("starting: %v", err)
			}
			before, _ := os.ReadFile(b.path)
			if _, err := b.Rotate(t.Context(), v.rotation()); !errors.Is(err, secret.ErrKeyWrong) {
				t.Errorf("rotating: %v", err)
			}
			if after, err := os.ReadFile(b.path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("a refused rotation has changed the key file (%v)", err)
			}
			if _, err := secret.Load(t.Context(), keyPath(t), v.used); !errors.Is(err, secret.ErrKeyMissing) {
				t.Errorf("starting without a file: %v", err)
			}
			v.check(t, v.load(t))
		})
	}
}

// Whoever stood still for long seals nothing before the next look.
func TestSealAfterAStandstill(t *testing.T) {
	t.Parallel()
	v := newFixture(t, 1)
	b := v.machine(t, time.Hour)
	b.begin(t)
	sealed := func() bool {
		_, err := b.Seal(secret.New("x"), place)
		if err != nil && !is(err, problem.CodeDatabaseUnavailable) {
			t.Fatal(err)
		}
		return err == nil
	}
	waittest.Until(t, "the first look", sealed)
	waittest.Until(t, "a refusal", func() bool { // a look may come between the two
		b.Forget(time.Hour)
		return !sealed()
	})
	waittest.Until(t, "the next look", sealed) // which the attempt has asked for
}
