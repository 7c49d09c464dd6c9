package pvesim

import (
	"slices"
	"strconv"
	"time"
)

// exportHistory is how far back /cluster/metrics/export reaches.
const exportHistory = 180 * figurePeriod

// metricEndpoints serves the export of metrics, which exists from release 8.2
// on.
func metricEndpoints() []*endpoint {
	return []*endpoint{serve("GET", "/cluster/metrics/export", exportMetrics).from("8.2")}
}

// exportMetrics writes the metrics of the local node, or of all, at their last
// round; with history, of all rounds after start-time. Stopped guests have only
// their limits and an uptime of 0.
func exportMetrics(r *request) (result, *apiError) {
	nodes := r.exportNodes()
	since := r.values.integer("start-time", 0)
	last := r.now.Truncate(figurePeriod)
	first := last
	if r.values.boolean("history", false) {
		first = last.Add(-exportHistory)
	}
	b := []byte(`{"data":{"data":[`)
	empty := len(b)
	for at := first; !at.After(last); at = at.Add(figurePeriod) {
		if at.Unix() <= since {
			continue
		}
		for _, n := range nodes {
			b = n.appendMetrics(b, at)
		}
		b = r.appendGuestMetrics(b, nodes, at)
	}
	if len(b) > empty {
		b = b[:len(b)-1]
	}
	return result{raw: append(b, "]}}"...)}, nil
}

// exportNodes returns the nodes whose metrics a request selects.
func (r *request) exportNodes() []*node {
	if r.values.boolean("local-only", false) {
		return []*node{r.entry}
	}
	wanted := r.values.listOf("node-list")
	var nodes []*node
	for _, n := range r.c.nodes {
		if n.online.Load() && (len(wanted) == 0 || slices.Contains(wanted, n.name)) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// metricRows appends metrics of one object at one time.
type metricRows struct {
	b  []byte
	id string
	at int64
}

// add appends a row. The rows are written by hand: an export has hundreds of
// thousands of them.
func (m *metricRows) add(metric, kind string, value float64) {
	m.b = append(m.b, `{"id":"`...)
	m.b = append(m.b, m.id...)
	m.b = append(m.b, `","metric":"`...)
	m.b = append(m.b, metric...)
	m.b = append(m.b, `","timestamp":`...)
	m.b = strconv.AppendInt(m.b, m.at, 10)
	m.b = append(m.b, `,"type":"`...)
	m.b = append(m.b, kind...)
	m.b = append(m.b, `","value":`...)
	m.b = strconv.AppendFloat(m.b, value, 'f', -1, 64)
	m.b = append(m.b, "},"...)
}

// gauge adds a present value, derive a counter.
func (m *metricRows) gauge(metric string, v float64) { m.add(metric, "gauge", v) }
func (m *metricRows) derive(metric string, v int64)  { m.add(metric, "derive", float64(v)) }

// appendMetrics appends the metrics of a node.
func (n *node) appendMetrics(b []byte, at time.Time) []byte {
	f := n.figures(at)
	m := metricRows{b, "node/" + n.name, at.Unix()}
	m.gauge("uptime", float64(f.uptime))
	m.derive("net_in", f.netIn)
	m.derive("net_out", f.netOut)
	m.gauge("cpu_avg1", f.load[0])
	m.gauge("cpu_avg5", f.load[1])
	m.gauge("cpu_avg15", f.load[2])
	m.gauge("cpu_max", float64(n.cores))
	m.gauge("cpu_current", f.cpu)
	m.gauge("cpu_iowait", f.wait)
	m.gauge("mem_total", float64(n.memory))
	m.gauge("mem_used", float64(f.mem))
	m.gauge("swap_total", float64(8*gibibyte))
	m.gauge("swap_used", 0)
	m.gauge("disk_total", float64(n.disk))
	m.gauge("disk_used", float64(f.disk))
	for _, s := range n.cluster.storages {
		if s.on(n.name) {
			m.id = "storage/" + n.name + "/" + s.id
			m.gauge("disk_total", float64(s.size))
			m.gauge("disk_used", float64(s.usedAt(at)))
		}
	}
	return m.b
}

// appendGuestMetrics appends the metrics of the guests on the nodes.
func (r *request) appendGuestMetrics(b []byte, nodes []*node, at time.Time) []byte {
	names := map[string]bool{}
	for _, n := range nodes {
		names[n.name] = true
	}
	m := metricRows{b: b, at: at.Unix()}
	for _, vmid := range r.c.sortedVMIDs() {
		g := r.c.guests[vmid]
		if !names[g.node] {
			continue
		}
		f := g.figures(at)
		m.id = g.Type + "/" + strconv.Itoa(vmid)
		if g.running() {
			m.gauge("cpu_current", f.cpu)
			m.gauge("mem_used", float64(f.mem))
			m.derive("disk_read", f.diskRead)
			m.derive("disk_write", f.diskWrite)
			m.derive("net_in", f.netIn)
			m.derive("net_out", f.netOut)
			if g.Type == LXC {
				m.gauge("disk_used", float64(f.disk))
			}
		}
		m.gauge("uptime", float64(f.uptime))
		m.gauge("cpu_max", float64(g.Cores))
		m.gauge("mem_total", float64(g.Memory))
		m.gauge("disk_total", float64(g.Disk))
	}
	return m.b
}
