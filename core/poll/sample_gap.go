package poll

import (
	"math"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// maxSamples limits the past samples of one poll.
const maxSamples = 250_000

// gap decides which past samples are kept. Polls see guests at each interval,
// so that samples of guests are needed only for the time without a good poll.
// Samples of nodes and storages have figures that polls do not have, and are
// few: all since the last detailed poll are kept.
type gap struct {
	from, to time.Time
	oldest   time.Time
	interval time.Duration
}

// newGap returns the period for which samples are missing. Half an interval at
// both ends is left out, because it may have been polled.
func newGap(since, now time.Time, interval time.Duration) gap {
	return gap{from: since.Add(interval / 2), to: now.Add(-interval / 2), oldest: now.Add(-24 * time.Hour), interval: interval}
}

// wants reports whether a sample fills the gap.
func (g gap) wants(s *hypervisor.Sample) bool {
	if s.At.Before(g.oldest) || s.At.After(g.to.Add(g.interval)) {
		return false
	}
	return s.Guest == nil || s.At.After(g.from) && s.At.Before(g.to)
}

// sampleColumns are the columns of samples.
const sampleColumns = "at, kind, node, identity, storage, cpu, memory, memory_total, disk, disk_total, " +
	"net_in, net_out, disk_read, disk_write"

// sampleRow is a row that is being built: the figures of one object at one
// time.
type sampleRow struct {
	at      time.Time
	figures [9]float64
	set     [9]bool
}

// figureOf maps metrics to columns.
var figureOf = map[string]int{
	"cpu": 0, "memory": 1, "memory_total": 2, "disk": 3, "disk_total": 4,
	"net_in": 5, "net_out": 6, "disk_read": 7, "disk_write": 8,
}

// sample takes the samples of a page. Those of one object follow each other.
func (v *inventory) sample(samples []hypervisor.Sample) {
	for len(samples) > 0 {
		n := 1
		for n < len(samples) && sameThing(&samples[0], &samples[n]) {
			n++
		}
		v.series(samples[:n])
		samples = samples[n:]
	}
}

// sameThing reports whether two samples are of the same object.
func sameThing(a, b *hypervisor.Sample) bool {
	if a.Node != b.Node || a.Storage != b.Storage || (a.Guest == nil) != (b.Guest == nil) {
		return false
	}
	return a.Guest == b.Guest || *a.Guest == *b.Guest
}

// series turns the single figures of one object into rows, one for each time,
// and at most one for each half interval.
func (v *inventory) series(samples []hypervisor.Sample) {
	if g := samples[0].Guest; g != nil && !known(g) {
		return
	}
	var rows []sampleRow
	index := map[time.Time]int{}
	for i := range samples {
		s := &samples[i]
		figure, ok := figureOf[s.Metric]
		if !ok || !v.gap.wants(s) || math.IsNaN(s.Value) || s.Value < 0 || s.Value > math.MaxInt64/2 {
			continue
		}
		at := s.At.Truncate(max(v.gap.interval/2, time.Second))
		row, ok := index[at]
		if !ok {
			row = len(rows)
			index[at] = row
			rows = append(rows, sampleRow{at: at})
		}
		rows[row].figures[figure], rows[row].set[figure] = s.Value, true
	}
	for i := range rows {
		v.sampleRow(&samples[0], &rows[i])
	}
}

// known reports whether a ref can belong to a stored guest.
func known(ref *hypervisor.GuestRef) bool {
	return (ref.Kind == hypervisor.VM || ref.Kind == hypervisor.Container) && ref.ID.Valid() &&
		(ref.UID == "" || hypervisor.ValidUID(ref.UID))
}

// sampleRow adds a row of samples, up to a limit: the driver is not trusted.
func (v *inventory) sampleRow(of *hypervisor.Sample, row *sampleRow) {
	if v.samples.n >= maxSamples {
		v.dropped++
		return
	}
	r := &v.samples
	r.row(14)
	r.time(row.at)
	switch {
	case of.Guest != nil:
		r.text("guest")
		r.text("")
		r.joined(identity(*of.Guest))
	case of.Storage != "":
		r.text("storage")
		r.text(clean(of.Node, maxName))
		r.null()
	default:
		r.text("node")
		r.text(clean(of.Node, maxName))
		r.null()
	}
	r.text(clean(of.Storage, maxName))
	for i, value := range row.figures {
		switch {
		case !row.set[i] || i == 0 && !sane(value):
			r.null()
		case i == 0:
			r.float(value)
		default:
			r.int(int64(value))
		}
	}
}
