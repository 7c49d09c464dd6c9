package hypervisor

import "time"

// maxClockDoubt is the longest round trip from which a clock difference is
// computed. The result can be wrong by half of the round trip.
const maxClockDoubt = 4 * time.Second

// ClockAhead computes Cluster.ClockAhead, in seconds. The date is the hypervisor's
// clock in whole seconds, such as the Date header of an HTTP response. The request
// was sent and its response received at these times of the local clock; ClockAhead
// assumes that the hypervisor wrote the date half-way between them. It returns nil
// if the response has no date or took too long for a useful result.
func ClockAhead(date, sent, answered time.Time) *float64 {
	took := answered.Sub(sent)
	if date.IsZero() || took < 0 || took > maxClockDoubt {
		return nil
	}
	// The date is cut to whole seconds, so on average half a second is missing from
	// it.
	ahead := date.Add(time.Second / 2).Sub(sent.Add(took / 2)).Seconds()
	return &ahead
}
