package processtest

import (
	"bytes"
	"sync"
	"testing"
	"time"
)

// hanging is how long anything may take at most. It bounds what hangs and says nothing of speed.
const hanging = 3 * time.Minute

// eventually waits until check returns nil and fails with its last error otherwise.
func eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(hanging)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come about: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// output keeps what a process prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
