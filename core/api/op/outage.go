package op

import (
	"sync"
	"time"

	"github.com/hostler/hostler/core/problem"
)

// outages lets the log tell once of a database that does not do its work, and once of its end, however many requests meet it.
type outages struct {
	mu sync.Mutex
	// open are those that go on, by what is wrong.
	open map[outage]*failures
}

// failures counts the requests that failed so far.
type failures struct {
	count int
	last  time.Time
}

// outage is what is wrong: the problem's code, and its member reason.
type outage struct {
	code   problem.Code
	reason string
}

// remedies is what the log says of each, by code and reason.
var remedies = map[outage]string{
	{problem.CodeDatabaseUnavailable, ""}: "the database does not answer: all requests are refused until it does",
	{problem.CodeDatabaseUnavailable, "memory"}: "the database is out of memory: give its server more memory, or reduce the number " +
		"of connections",
	{problem.CodeDatabaseUnavailable, "read_only"}: "the database is read-only: changes are refused; is this a standby?",
	{problem.CodeDatabaseUnavailable, "io"}:        "the database's disk is failing: see the database server's log",
	{problem.CodeDatabaseFull,
		""}: "the database's disk is full: changes are refused until it has space again, but reading works",
}

// outageOf is the outage that a problem tells of; ok is false for other problems.
func outageOf(p *problem.Error) (o outage, ok bool) {
	o.code = p.Code
	o.reason, _ = p.Members["reason"].(string)
	_, ok = remedies[o]
	return o, ok
}

// begin counts one request, and says whether it is the first.
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

// end takes those away that a success disproves which began after the last failure: any that needed the database ends that it does
// not answer, and one that changed something ends all. It says how many requests had failed.
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

// logOutage logs the first request that an outage refuses, and reports whether the problem is of one.
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

// recovered ends the outages that an answer disproves.
func (a *API) recovered(q *request, status int, begun time.Time) {
	if status >= 400 || q.operation.Spec.Public {
		return
	}
	if failed := a.outages.end(begun, q.attempt != nil && q.attempt.Written()); failed > 0 {
		a.log.Info("the database is working again", "failed_requests", failed)
	}
}
