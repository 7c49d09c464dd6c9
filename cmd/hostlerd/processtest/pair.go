package processtest

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
)

// pair is two instances of the service on one database and with the same key.
type pair struct {
	a, b *service
	// owner is logged in at a, and other is the same person at b.
	owner, other *client
	db           *db.DB
}

// startPair starts both instances. owner is logged in at a, and other is the
// same person at b.
func startPair(t testing.TB) *pair {
	t.Helper()
	p := &pair{a: startService(t, options{})}
	p.owner = setUp(t, p.a)
	p.b = startService(t, options{DB: p.a.DB, State: p.a.State}) // the second instance needs the same key
	p.other = newClient(p.b)
	p.other.logIn(t, ownerEmail, ownerPassword)
	p.db = dbtest.Open(t, p.a.DB)
	return p
}

// account is a user that a test has made.
type account struct {
	ID    int64
	Email string
}

// accountPassword is the password of all users that tests create.
const accountPassword = "seven-yellow-donkeys-4K"

// user makes one with a role in the default team.
func (c *client) user(t testing.TB, name, role string) account {
	t.Helper()
	var made account
	c.must(t, http.StatusCreated, http.MethodPost, "/api/v1/users", map[string]any{
		"email": name + "@example.com", "password": accountPassword, "role": role,
	}, &made)
	return made
}

// as is the user's client at a service.
func (u account) as(t testing.TB, s *service) *client {
	t.Helper()
	c := newClient(s)
	c.logIn(t, u.Email, accountPassword)
	return c
}

// alter executes a statement on the services' database and returns the number
// of affected rows.
func alter(t testing.TB, d *db.DB, statement string, args ...any) int64 {
	t.Helper()
	tag, err := d.Pool.Exec(t.Context(), statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return tag.RowsAffected()
}

// number returns the single number of a query.
func number(t testing.TB, d *db.DB, query string, args ...any) (n int) {
	t.Helper()
	if err := d.Pool.QueryRow(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// atOnce makes requests at the same moment, as far as goroutines allow, and
// returns their responses.
func atOnce(t testing.TB, requests ...func() (answer, error)) []answer {
	t.Helper()
	answers := make([]answer, len(requests))
	begin := make(chan struct{})
	var end sync.WaitGroup
	for i, request := range requests {
		end.Go(func() {
			<-begin
			var err error
			if answers[i], err = request(); err != nil {
				t.Error(err)
			}
		})
	}
	close(begin)
	end.Wait()
	return answers
}

// statuses are those of the answers, for messages.
func statuses(answers []answer) (text string) {
	for _, a := range answers {
		text += fmt.Sprintf("%d %s; ", a.Status, a.Body)
	}
	return text
}
