package op

import (
	"fmt"
	"testing"
	"time"
)

func TestLimiter(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	l := newLimiter(3, 2)
	l.now = func() time.Time { return now }
	admitted := func(address string, tries int) (n int) {
		for range tries {
			if l.admit(address) == 0 {
				n++
			}
		}
		return n
	}
	if n := admitted("a", 10); n != 3 {
		t.Errorf("%d at once", n)
	}
	if wait := l.admit("a"); wait != 500*time.Millisecond {
		t.Errorf("wait %s", wait)
	}
	now = now.Add(499 * time.Millisecond)
	if n := admitted("a", 1); n != 0 {
		t.Error("too early")
	}
	now = now.Add(time.Millisecond)
	if n := admitted("a", 10); n != 1 {
		t.Errorf("%d after half a second", n)
	}
	now = now.Add(time.Hour)
	if n := admitted("a", 10); n != 3 {
		t.Errorf("%d after an hour", n)
	}

	// However many addresses come, few are kept, and new ones are admitted.
	l.most = 50
	for i := range 500 {
		now = now.Add(time.Millisecond)
		if n := admitted(fmt.Sprint(i), 5); n != 3 || len(l.paid) > l.most {
			t.Fatalf("address %d: %d admitted, %d are kept", i, n, len(l.paid))
		}
	}
	// Those that are paid for go first: whoever floods now stays counted.
	now = now.Add(time.Hour)
	admitted("flood", 3)
	for i := range 48 {
		admitted(fmt.Sprint("other", i), 1)
	}
	if wait := l.admit("flood"); wait == 0 || len(l.paid) > l.most {
		t.Errorf("the flood is forgotten, %d are kept", len(l.paid))
	}
}
