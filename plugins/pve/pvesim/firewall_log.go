package pvesim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// firewallLogEndpoints serves the firewall logs of nodes and guests.
func firewallLogEndpoints() []*endpoint {
	all := []*endpoint{serve("GET", "/nodes/{node}/firewall/log", readFirewallLog)}
	for _, at := range firewallGuestPaths {
		all = append(all, serve("GET", at+"/log", readFirewallLog))
	}
	return all
}

// A line of the log is the guest (0 for the node), the level as syslog counts
// it, the chain, the time, what was done, and the packet.
const firewallLogTime = "02/Jan/2006:15:04:05 -0700"

// firewallLogLimit is how many lines an answer has that does not say how many
// it wants; 0 wants all.
const firewallLogLimit = 50

// readFirewallLog answers a node's log, or the lines of a guest in it, from the
// oldest on. Lines are numbered after they were chosen, and total counts them
// all. A file that is not there, and one without any such line, are a line too;
// but not where a time is given, for then the server looks at whatever files
// there are.
func readFirewallLog(r *request) (result, *apiError) {
	log, timed := r.node.firewallLog, r.values.has("since") || r.values.has("until")
	if len(log) == 0 {
		if timed {
			return result{data: []any{}, counted: true}, nil
		}
		return result{data: []any{logRow(1, "unable to open file - No such file or directory")}, total: 1}, nil
	}
	start, limit := r.values.integer("start", 0), r.values.integer("limit", firewallLogLimit)
	rows, count := []any{}, 0
	for _, line := range log {
		if r.kind != "" && !strings.HasPrefix(line, strconv.Itoa(r.vmid())+" ") || timed && !r.values.spans(logTime(line)) {
			continue
		}
		if count++; int64(count) <= start || limit > 0 && int64(len(rows)) >= limit {
			continue
		}
		rows = append(rows, logRow(count, line))
	}
	if count == 0 {
		rows, count = append(rows, logRow(1, "no content")), 1
	}
	return result{data: rows, total: count}, nil
}

// logRow returns a line of a log.
func logRow(n int, text string) map[string]any { return map[string]any{"n": n, "t": text} }

// spans reports whether a time is in what a request asks for. Zero sets no bound.
func (v values) spans(at int64) bool {
	since, until := v.integer("since", 0), v.integer("until", 0)
	return (since == 0 || at >= since) && (until == 0 || at <= until)
}

// logTime is the time of a line, in seconds since 1970, or 0 for a line that has none.
func logTime(line string) int64 {
	words := strings.SplitN(line, " ", 6)
	if len(words) < 5 {
		return 0
	}
	at, err := time.Parse(firewallLogTime, words[3]+" "+words[4])
	if err != nil {
		return 0
	}
	return at.Unix()
}

// firewallLogSize is how many lines a node keeps; older ones are dropped.
const firewallLogSize = 100_000

// logFirewall appends lines to a node's log and drops the oldest beyond its
// size.
func (n *node) logFirewall(lines ...string) {
	n.firewallLog = append(n.firewallLog, lines...)
	if over := len(n.firewallLog) - firewallLogSize; over > 0 {
		n.firewallLog = append([]string(nil), n.firewallLog[over:]...)
	}
}

// AppendFirewallLog writes lines to a node's firewall log, as they are. A guest
// sees those that begin with its id. A node without any line has no log file.
func (c *Cluster) AppendFirewallLog(node string, lines ...string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeByName(node)
	if n == nil {
		return fmt.Errorf("no node %q", node)
	}
	n.logFirewall(lines...)
	return nil
}
