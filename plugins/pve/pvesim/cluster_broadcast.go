package pvesim

import (
	"strconv"
	"sync"
	"time"
)

// broadcast is what the nodes last told each other about their guests.
// /cluster/resources is made of it: a guest that is newer has no figures yet,
// one that is gone since is still there.
type broadcast struct {
	taken      time.Time
	serial     uint64
	generation uint64
	period     uint64
	stale      bool
	rows       []broadcastRow
	known      map[int]int // guest id to its index in rows
	bodies     map[bodyKey]*readyBody
}

// broadcastRow is one guest at the time of the broadcast. encoded is the part
// of its row that only the figures make.
type broadcastRow struct {
	vmid    int
	kind    string
	node    string
	offline bool
	encoded []byte
}

// bodyKey names a ready-made answer: for whom and which type.
type bodyKey struct{ who, kind string }

// readyBody is an answer that is good as long as the state of the cluster stays.
type readyBody struct {
	generation uint64
	body       []byte
	once       sync.Once // guards gzipped
	gzipped    []byte
}

// refreshBroadcast renews the broadcast when it is old enough. On a real
// cluster, pvestatd sends the figures of each node to the others about every
// ten seconds, so /cluster/resources lags behind. Without lag, the broadcast
// follows every change. The caller holds the cluster's lock.
func (c *Cluster) refreshBroadcast(now time.Time) {
	b := &c.broadcast
	lag := c.resourcesLag()
	fresh := b.serial > 0 && !b.stale
	if lag > 0 {
		fresh = fresh && now.Sub(b.taken) < lag
	} else {
		fresh = fresh && b.generation == c.generation && b.period == period(now)
	}
	if fresh {
		return
	}
	b.taken, b.generation, b.period, b.stale = now, c.generation, period(now), false
	b.serial++
	b.bodies = map[bodyKey]*readyBody{}
	b.rows = b.rows[:0]
	b.known = make(map[int]int, len(c.guests))
	offline := map[string]bool{}
	for _, vmid := range c.sortedVMIDs() {
		offline[c.guests[vmid].node] = true // unless it is a member that is there
	}
	for _, n := range c.nodes {
		offline[n.name] = !n.online.Load()
	}
	arena := make([]byte, 0, 320*len(c.guests)) // one piece of memory for all rows
	for _, vmid := range c.sortedVMIDs() {
		g := c.guests[vmid]
		b.known[vmid] = len(b.rows)
		row := broadcastRow{vmid: vmid, kind: g.Type, node: g.node, offline: offline[g.node]}
		if !row.offline {
			start := len(arena)
			arena = g.appendFigures(arena, now, c.release.major >= 9)
			row.encoded = arena[start:len(arena):len(arena)]
		}
		b.rows = append(b.rows, row)
	}
}

// appendFigures writes the broadcast members of a guest's row, with a leading
// comma; modern adds those of release 9.
func (g *guest) appendFigures(b []byte, now time.Time, modern bool) []byte {
	f := g.figures(now)
	number := func(name string, v int64) {
		b = append(b, `,"`...)
		b = append(b, name...)
		b = append(b, `":`...)
		b = strconv.AppendInt(b, v, 10)
	}
	b = append(b, `,"name":"`...) // names are DNS names and tags plain words: nothing to escape
	b = append(b, g.Name...)
	b = append(b, `","status":"`...)
	b = append(b, g.qmpStatus()...) // a paused machine is "paused" here and "running" in its own status
	b = append(b, `","cpu":`...)
	b = strconv.AppendFloat(b, f.cpu, 'g', -1, 64)
	number("maxcpu", int64(g.Cores))
	number("mem", f.mem)
	number("maxmem", g.Memory)
	if modern {
		number("memhost", f.memHost)
	}
	number("disk", f.disk)
	number("maxdisk", g.Disk)
	number("diskread", f.diskRead)
	number("diskwrite", f.diskWrite)
	number("netin", f.netIn)
	number("netout", f.netOut)
	number("uptime", f.uptime)
	number("template", int64(oneOrZero(g.Template)))
	return b
}

// newSinceBroadcast returns the guests that the last broadcast does not
// contain. The real list lags behind in the same way.
func (c *Cluster) newSinceBroadcast() []int {
	if c.broadcast.generation == c.generation {
		return nil
	}
	var ids []int
	for _, vmid := range c.sortedVMIDs() {
		if _, known := c.broadcast.known[vmid]; !known {
			ids = append(ids, vmid)
		}
	}
	return ids
}
