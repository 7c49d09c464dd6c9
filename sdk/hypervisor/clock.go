package hypervisor

import "time"

// maxClockDoubt is how long an answer may take to tell a clock: by up to half of it the result is wrong.
const maxClockDoubt = 4 * time.Second

// ClockAhead is what Cluster.ClockAhead is made of: date is the hypervisor's clock in whole seconds, as in an answer of HTTP, to a request
// that was sent and answered at these times of the own clock. Half of the time between them is taken into account. It is nil where the
// answer took too long to tell, or has no date.
func ClockAhead(date, sent, answered time.Time) *float64 {
	took := answered.Sub(sent)
	if date.IsZero() || took < 0 || took > maxClockDoubt {
		return nil
	}
	// What was cut off from the second is half of one on average.
	ahead := date.Add(time.Second / 2).Sub(sent.Add(took / 2)).Seconds()
	return &ahead
}
