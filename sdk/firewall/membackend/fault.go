package membackend

// faults are what goes wrong at an endpoint.
type faults struct {
	err    error
	fails  map[string]error
	loses  map[string]error
	before func(method string)
}

// Fail makes every call fail with an error; nil ends it.
func (e *Endpoint) Fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
}

// FailCall makes the calls of a method, such as "MoveRule", fail with an error,
// and nothing is changed; nil ends it.
func (e *Endpoint) FailCall(method string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fails == nil {
		e.fails = map[string]error{}
	}
	e.fails[method] = err
}

// LoseAnswer makes the calls of a method that changes something answer with an
// error after the change was made; nil ends it.
func (e *Endpoint) LoseAnswer(method string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.loses == nil {
		e.loses = map[string]error{}
	}
	e.loses[method] = err
}

// Before has a function called with the name of the method before each call;
// nil ends it. It may block, and change the endpoint: so somebody else comes in
// between.
func (e *Endpoint) Before(do func(method string)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.before = do
}

func (e *Endpoint) hook() func(string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.before
}

// failing and losing need the lock.
func (e *Endpoint) failing(method string) error {
	if e.err != nil {
		return e.err
	}
	return e.fails[method]
}

func (e *Endpoint) losing(method string) error { return e.loses[method] }
