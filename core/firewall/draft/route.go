package draft

import (
	"sync"

	sdk "github.com/hostler/hostler/sdk/firewall"
)

// route leads from states of scopes to other states, step by step.
type route struct {
	from, goal []sdk.State
	steps      func() []step
}

// newRoute returns the way between two states of the same scopes. Its steps are
// computed once, when they are needed.
func newRoute(from, goal []sdk.State) *route {
	return &route{from, goal, sync.OnceValue(func() []step {
		steps, _ := inOrder(from, goal)
		return steps
	})}
}

// route returns the present way of the job. Scopes that it leaves as they are do
// not move on it.
func (w *work) route() *route {
	goal := w.goal()
	for i, kept := range w.Kept {
		if kept {
			goal[i] = w.From[i]
		}
	}
	return newRoute(w.From, goal)
}

// passes reports whether a state of a scope is on the way: at its ends, after a
// step, or within one. This is how a job finds its position after a restart or
// a lost answer.
func (w *route) passes(i int, now sdk.State) bool {
	if now.Equal(w.from[i]) || now.Equal(w.goal[i]) {
		return true
	}
	at := owned(w.from[i])
	for _, st := range w.steps() {
		if st.scope != i {
			continue
		}
		if st.within != nil && st.within(at, now) {
			return true
		}
		if st.apply(&at); now.Equal(at) {
			return true
		}
	}
	return false
}
