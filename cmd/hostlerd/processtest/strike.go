package processtest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// The points of a request to a hypervisor at which the victim dies.
const (
	// lost is a request that the hypervisor never receives.
	lost = "lost"
	// carriedOut is a request that the hypervisor has carried out, and whose
	// response has not arrived.
	carriedOut = "carried out"
)

// strikePoint is a request at which the victim is killed once. It is named as
// in the simulator's statistics.
type strikePoint struct {
	at    *sim
	sends string
	when  string
	// later points are reached by requests that are made before as well: they are set when the point before them is reached.
	later bool

	fault int
}

// arm has the simulator hold the next such request.
func (p *strikePoint) arm(t testing.TB) {
	t.Helper()
	method, template, _ := strings.Cut(p.sends, " ")
	fault := map[string]any{"kind": "hang", "times": 1, "match": map[string]any{"method": method, "path": template}}
	if p.when == carriedOut {
		fault["kind"], fault["delay_ms"], fault["after"] = "delay", 30000, true
	}
	var made struct{ ID int }
	p.at.control(t, http.MethodPost, "/fault", fault, &made)
	p.fault = made.ID
}

// strikeAt lets the victim die at each of the points in their order, which a job comes to.
func (l *life) strikeAt(points []*strikePoint, job int64) {
	l.t.Helper()
	for i, p := range points {
		waittest.Until(l.t, p.sends+" is held, "+p.when, func() bool {
			reached, j := p.reached(l.t), progress(l.t, l.owner, job)
			if !reached && j.Status != "queued" && j.Status != "running" {
				l.t.Fatalf("before %s was held, %s, it ended %s: %s\n%s", p.sends, p.when, j.Status, j.Error, transcript(l.t, l.owner, job))
			}
			return reached
		})
		if i+1 < len(points) && points[i+1].later {
			points[i+1].arm(l.t)
		}
		l.strike()
	}
}

// reached reports whether the request is held.
func (p *strikePoint) reached(t testing.TB) bool {
	t.Helper()
	var faults []struct{ ID, Struck int }
	p.at.control(t, http.MethodGet, "/fault", nil, &faults)
	for _, f := range faults {
		if f.ID == p.fault {
			return f.Struck > 0
		}
	}
	return false
}
