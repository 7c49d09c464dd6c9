package pvesim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kinds of faults; the package comment describes them.
const (
	FaultStatus   = "status"
	FaultDelay    = "delay"
	FaultCut      = "cut"
	FaultHang     = "hang"
	FaultRefuse   = "refuse"
	FaultTruncate = "truncate"
	FaultEmpty    = "empty"
	// FaultDaemon and FaultFileSystem stop a part of a node; see node_outage.go.
	FaultDaemon     = "pvedaemon"
	FaultFileSystem = "pmxcfs"
)

// Fault is a misbehaviour that strikes matching requests.
type Fault struct {
	ID      int    `json:"id"` // given by [Cluster.AddFault]
	Match   Match  `json:"match"`
	Kind    string `json:"kind"`
	Status  int    `json:"status,omitempty"` // of kind status
	Reason  string `json:"reason,omitempty"`
	DelayMS int    `json:"delay_ms,omitempty"` // of kind delay
	// Times is how often it strikes; 0 means until it is removed.
	Times int `json:"times,omitempty"`
	// After lets the request take effect first; only its answer suffers.
	After bool `json:"after,omitempty"`
	// Struck counts how often it struck.
	Struck int `json:"struck"`
}

// Match chooses requests; an empty member matches all.
type Match struct {
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"` // a template, or a prefix of the path below /api2/json
	Node   string `json:"node,omitempty"` // the node that is called, not the one it passes the request on to
}

// faultCall is a request as faults see it.
type faultCall struct{ method, template, path, node string }

// fits reports whether a fault applies to a call.
func (m Match) fits(call faultCall) bool {
	return (m.Method == "" || m.Method == call.method) && (m.Node == "" || m.Node == call.node) &&
		(m.Path == "" || m.Path == call.template || strings.HasPrefix(call.path, m.Path))
}

// faults contains the faults of a cluster. It has its own mutex, because a
// fault may block while the state of the cluster must stay accessible.
type faults struct {
	mu   sync.Mutex
	next int
	list []*Fault
}

// AddFault sets a fault and returns its id.
func (c *Cluster) AddFault(f Fault) (int, error) {
	switch f.Kind {
	case FaultStatus:
		if f.Status < 200 || f.Status > 999 {
			return 0, fmt.Errorf("fault status %d is not in 200 to 999", f.Status)
		}
	case FaultDelay:
		if f.DelayMS <= 0 {
			return 0, fmt.Errorf("fault delay %d ms is not positive", f.DelayMS)
		}
	case FaultRefuse, FaultDaemon, FaultFileSystem:
		if f.Match.Method != "" || f.Match.Path != "" {
			return 0, fmt.Errorf("fault %q cannot match by method or path", f.Kind)
		}
	case FaultCut, FaultHang, FaultTruncate, FaultEmpty:
	default:
		return 0, fmt.Errorf("unknown fault kind %q", f.Kind)
	}
	c.fault.mu.Lock()
	c.fault.next++
	f.ID, f.Struck = c.fault.next, 0
	f.After = f.After && f.Kind != FaultTruncate // which is behind the effect by its nature
	c.fault.list = append(c.fault.list, &f)
	c.fault.mu.Unlock()
	if f.Kind == FaultRefuse { // what is open already is cut
		c.server.dropConnections(f.Match.Node)
	}
	return f.ID, nil
}

// Faults lists the faults that are set, with how often they struck.
func (c *Cluster) Faults() []Fault {
	c.fault.mu.Lock()
	defer c.fault.mu.Unlock()
	out := make([]Fault, len(c.fault.list))
	for i, f := range c.fault.list {
		out[i] = *f
	}
	return out
}

// ClearFaults removes the faults with these ids, or all when none is named.
func (c *Cluster) ClearFaults(ids ...int) {
	c.fault.mu.Lock()
	defer c.fault.mu.Unlock()
	c.fault.list = slices.DeleteFunc(c.fault.list, func(f *Fault) bool { return len(ids) == 0 || slices.Contains(ids, f.ID) })
}

// take finds the first fault that strikes and counts the blow. Spent faults stay listed.
func (f *faults) take(call faultCall, after bool, kinds ...string) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.list {
		if x.After == after && slices.Contains(kinds, x.Kind) && (x.Times == 0 || x.Struck < x.Times) && x.Match.fits(call) {
			x.Struck++
			hit := *x
			return &hit
		}
	}
	return nil
}

// refuses reports whether connections to the node are to be reset.
func (f *faults) refuses(node string) bool {
	return f.take(faultCall{node: node}, false, FaultRefuse) != nil
}

// strike applies a fault before or after the effect of a request. done reports
// that the response was dealt with; a delay lets the request go on.
func (c *Cluster) strike(w http.ResponseWriter, r *http.Request, call faultCall, after bool) (done bool) {
	f := c.fault.take(call, after, FaultStatus, FaultDelay, FaultCut, FaultHang, FaultEmpty)
	if f == nil {
		return false
	}
	switch f.Kind {
	case FaultDelay:
		c.server.sleep(r.Context(), time.Duration(f.DelayMS)*time.Millisecond)
		return false
	case FaultCut:
		cutConnection(w)
	case FaultEmpty:
		writeOK(w, []byte(`{"data":[]}`), okHeader{at: c.Now()})
	case FaultHang:
		c.server.hang(r)
		cutConnection(w)
	case FaultStatus:
		if f.Status < 300 {
			writeOK(w, []byte(`{"data":null}`), okHeader{at: c.Now()})
			return true
		}
		e := &apiError{status: f.Status, text: f.Reason}
		if f.Status == 401 || f.Status >= 595 {
			e.body = bodyNone
		}
		if e.text == "" {
			e.text = http.StatusText(f.Status)
		}
		c.sendError(w, e)
	}
	return true
}
