package pvesim

import "time"

// figurePeriod is how long a figure keeps its value: pvestatd's round.
const figurePeriod = 10 * time.Second

// guestFigures are the counters of one guest at one moment.
type guestFigures struct {
	uptime              int64
	cpu                 float64 // fraction of all cores
	mem, memHost        int64
	disk                int64
	netIn, netOut       int64
	diskRead, diskWrite int64
}

// noise is a repeatable number in [0, 1) of a seed and a period of time.
func noise(seed, period uint64) float64 {
	x := seed ^ period*0x9e3779b97f4a7c15
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// period returns the number of the period in which figures do not change. Two
// readings in the same period agree, as in the original.
func period(t time.Time) uint64 { return uint64(t.Unix()) / uint64(figurePeriod/time.Second) }

// figures computes a guest's counters: a stopped guest has none.
func (g *guest) figures(now time.Time) guestFigures {
	if !g.running() {
		return guestFigures{}
	}
	up := max(int64(now.Sub(g.startedAt)/time.Second), 0)
	base := noise(g.seed, 0)
	f := guestFigures{
		uptime:    up,
		cpu:       0.02 + 0.6*base*noise(g.seed, period(now)),
		mem:       int64(float64(g.Memory) * (0.2 + 0.5*base + 0.1*noise(g.seed+1, period(now)))),
		netIn:     up * int64(200+20_000*base),
		netOut:    up * int64(150+9_000*base),
		diskRead:  up * int64(1000+30_000*base),
		diskWrite: up * int64(500+60_000*base),
	}
	f.memHost = f.mem + 32*mebibyte
	if g.Type == LXC {
		f.disk = int64(float64(g.Disk) * (0.1 + 0.6*base))
		f.memHost = 0
	}
	return f
}

// nodeFigures are a node's counters at one moment.
type nodeFigures struct {
	uptime        int64
	cpu, wait     float64
	mem, disk     int64
	netIn, netOut int64
	load          [3]float64
}

// figures returns the figures of a node. They are computed from the time and a
// seed, so they need no memory and are reproducible.
func (n *node) figures(now time.Time) nodeFigures {
	seed := uint64(n.index)*7919 + n.cluster.opts.Seed
	p := period(now)
	up := max(int64(now.Sub(n.booted)/time.Second), 0)
	cpu := 0.03 + 0.4*noise(seed, p)
	return nodeFigures{
		uptime: up,
		cpu:    cpu,
		wait:   0.01 * noise(seed+1, p),
		mem:    int64(float64(n.memory) * (0.3 + 0.2*noise(seed+2, p))),
		disk:   int64(float64(n.disk) * (0.1 + 0.2*noise(seed+3, 0))),
		netIn:  up * 120_000,
		netOut: up * 90_000,
		load:   [3]float64{cpu * float64(n.cores), cpu * float64(n.cores) * 0.9, cpu * float64(n.cores) * 0.8},
	}
}

// usedAt is the fill of a storage, which grows and shrinks a little.
func (s *storage) usedAt(now time.Time) int64 {
	used := s.used
	if used == 0 {
		used = int64(float64(s.size) * (0.1 + 0.6*noise(s.seed(), 0)))
	}
	return min(used+s.taken()+s.backups.taken()+int64(float64(64*mebibyte)*noise(s.seed(), period(now))), s.size)
}
