package op

import (
	"sync"
	"time"

	"github.com/hostler/hostler/core/problem"
)

// outages keeps the log short while the database is out of order. It logs one
// line when an outage begins and one when it ends, however many requests fail
// in between.
type outages struct {
	mu sync.Mutex
	// open has the current outages, with the failures of each.
	open map[outage]*failures
}

// failures counts the requests that failed because of one outage. last is the
// time of the latest failure.
type failures struct {
	count int
	last  time.Time
}

// outage identifies a kind of outage: the code of the problem and its member
// reason.
type outage struct {
	code   problem.Code
	reason string
}

// remedies has the text of the log for each outage. A problem that is not in it
// is not an outage.
var remedies = map[outage]string{
	{problem.CodeDatabaseUnavailable, ""}: "the database does not answer: all requests are refused until it does",
	{problem.CodeDatabaseUnavailable, "memory"}: "the database is out of memory: give its server more memory, or reduce the number " +
		"of connections",
	{problem.CodeDatabaseUnavailable, "read_only"}: "the database is read-only: changes are refused; is this a standby?",
	{problem.CodeDatabaseUnavailable, "io"}:        "the database's disk is failing: see the database server's log",
	{problem.CodeDatabaseFull,
		""}: "the database's disk is full: changes are refused until it has space again, but reading works",
}

// outageOf returns the outage that a problem belongs to. ok is false for other
// problems.
func outageOf(p *problem.Error) (o outage, ok bool) {
	o.code = p.Code
	o.reason, _ = p.Members["reason"].(string)
	_, ok = remedies[o]
	return o, ok
}

// begin counts one failed request and reports whether it is the first of the
// outage.
func (s *outages) begin(o outage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[outage]*failures{}
	}
	f := s.open[o]
	if f == nil {
		f = &failures{}
		s.open[o] = f
	}
	f.count++
	f.last = time.Now()
	return f.count == 1
}

// end removes the outages that a successful request disproves, and returns how
// many requests had failed. Only a request that began after the last failure
// counts. A request that only read shows that the database answers again; one
// that changed something ends all outages, since it also needed memory, disk
// space and write access.
func (s *outages) end(begun time.Time, changed bool) (failed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for o, f := range s.open {
		if begun.After(f.last) && (changed || o == (outage{code: problem.CodeDatabaseUnavailable})) {
			failed += f.count
			delete(s.open, o)
		}
	}
	return failed
}

// logOutage logs a problem if an outage caused it, and reports whether it did.
// The first failure is an error in the log, the others are at the level debug.
func (a *API) logOutage(p *problem.Error, args []any) bool {
	o, ok := outageOf(p)
	if !ok {
		return false
	}
	if a.outages.begin(o) {
		a.log.Error(remedies[o], args...)
	} else {
		a.log.Debug("request failed", args...)
	}
	return true
}

// recovered ends the outages that a successful answer disproves. Public
// operations do not count, since they may work without the database.
func (a *API) recovered(q *request, status int, begun time.Time) {
	if status >= 400 || q.operation.Spec.Public {
		return
	}
	if failed := a.outages.end(begun, q.attempt != nil && q.attempt.Written()); failed > 0 {
		a.log.Info("the database is working again", "failed_requests", failed)
	}
}
