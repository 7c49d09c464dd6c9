package membackend

// faults are the failures that a test sets at an endpoint.
type faults struct {
	err    error
	fails  map[string]error
	loses  map[string]error
	before func(method string)
}

// Fail makes every call fail with an error, before it changes anything. Nil
// ends that.
func (e *Endpoint) Fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
}

// FailCall makes the calls of one method, such as "MoveRule", fail before they
// change anything. Nil ends that.
func (e *Endpoint) FailCall(method string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fails == nil {
		e.fails = map[string]error{}
	}
	e.fails[method] = err
}

// LoseAnswer makes the calls of a method return an error after they made their
// change, like a connection that breaks before the response. Callers must find
// out what happened. Nil ends that.
func (e *Endpoint) LoseAnswer(method string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.loses == nil {
		e.loses = map[string]error{}
	}
	e.loses[method] = err
}

// Before sets a function that is called with the name of the method before each
// call. It runs without the lock, so it may block, or change the endpoint like
// somebody else would. Nil ends that.
func (e *Endpoint) Before(do func(method string)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.before = do
}

// hook returns the function of Before.
func (e *Endpoint) hook() func(string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.before
}

// failing and losing return the error that a test set for a method. The caller
// holds the lock.
func (e *Endpoint) failing(method string) error {
	if e.err != nil {
		return e.err
	}
	return e.fails[method]
}

func (e *Endpoint) losing(method string) error { return e.loses[method] }
