package auth_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/identity/identitytest"
)

func TestPreferences(t *testing.T) {
	t.Parallel()
	s := newService(t)
	mine, other := s.account(t, apitest.NoRole), s.account(t, apitest.Owner)
	ask := func(who *identitytest.Account, method, body string, status int, want ...string) {
		t.Helper()
		answer := s.send(t, method, "/api/v1/auth/preferences", body, who.Cookie)
		for _, text := range want {
			if !strings.Contains(string(answer.Body), text) {
				t.Errorf("%s %.100s: the answer lacks %s: %.300s", method, body, text, answer.Body)
			}
		}
		if answer.Status != status {
			t.Errorf("%s %.100s: %d, want %d: %.300s", method, body, answer.Status, status, answer.Body)
		}
	}
	ask(mine, "GET", "", 200, `{"value":{},"revision":0,"changed_at":null}`)
	ask(mine, "PUT", `{"value":{"a":1},"revision":1}`, 409, "invalid_state")
	const odd = `{"markup":"<b>\u202e","deep":[[[{}]]]}`
	ask(mine, "PUT", `{"value": `+odd+` ,"revision":0}`, 200, `"value":`+odd+`,"revision":1`)
	ask(mine, "GET", "", 200, `"value":`+odd+`,"revision":1,"changed_at":"2`)
	ask(other, "GET", "", 200, `"revision":0`)

	// Whoever has read something older learns of it, and nobody has to say what they have read.
	ask(mine, "PUT", `{"value":{"b":1},"revision":0}`, 409, "changed in the meantime")
	ask(mine, "PUT", `{"value":{"b":1},"revision":1}`, 200, `"revision":2`)
	ask(mine, "PUT", `{"value":{"c":1}}`, 200, `"revision":3`)
	ask(mine, "PUT", `{"value":{"d":1},"revision":9223372036854775807}`, 409, "invalid_state")

	fits := `{"a":"` + strings.Repeat("x", 8192-8) + `"}`
	ask(mine, "PUT", `{"value":`+fits+`}`, 200, `"revision":4`)
	ask(mine, "PUT", `{"value":`+strings.Replace(fits, "x", "xx", 1)+`}`, 422, "has 8193 bytes")
	for _, value := range []string{"null", "[]", "1", `"a"`, "true", "{", "", `{"a":"\u0000"}`} {
		ask(mine, "PUT", `{"value":`+value+`}`, 422)
	}
	ask(mine, "PUT", `{}`, 422, "value")
	ask(mine, "GET", "", 200, `"revision":4`)

	// Of two who change the same one at once, one is told.
	var group sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for i := range 8 {
		group.Go(func() {
			answer := s.send(t, "PUT", "/api/v1/auth/preferences", fmt.Sprintf(`{"value":{"i":%d},"revision":4}`, i), mine.Cookie)
			mu.Lock()
			defer mu.Unlock()
			statuses[answer.Status]++
		})
	}
	group.Wait()
	if statuses[200] != 1 || statuses[409] != 7 {
		t.Errorf("of eight changes of one revision: %v", statuses)
	}
}
