package processtest

import (
	"bytes"
	"sync"
	"time"
)

// hanging is how long anything may take at most. It bounds what hangs and says nothing of speed.
const hanging = 3 * time.Minute

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
