package setting

import (
	"errors"
	"strings"
	"time"
)

var errClock = errors.New("must be a time followed by an IANA time zone, such as 07:00 Europe/Berlin, or empty")

// LastClock is when it was last a time of day, now included; at is as BackupReportAt has it. Zero for "". A time that is skipped as the
// clock is put forward comes right after the skip.
func LastClock(at string, now time.Time) (time.Time, error) {
	if at == "" {
		return time.Time{}, nil
	}
	clock, name, found := strings.Cut(at, " ")
	of, err := time.Parse("15:04", clock)
	if err != nil || !found || len(clock) != 5 || name == "" || name == "Local" {
		return time.Time{}, errClock
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.Time{}, errClock
	}
	now = now.In(zone)
	last := time.Date(now.Year(), now.Month(), now.Day(), of.Hour(), of.Minute(), 0, 0, zone)
	if last.After(now) {
		last = time.Date(now.Year(), now.Month(), now.Day()-1, of.Hour(), of.Minute(), 0, 0, zone)
	}
	return last, nil
}

func checkClock(at string) error {
	_, err := LastClock(at, time.Now())
	return err
}
