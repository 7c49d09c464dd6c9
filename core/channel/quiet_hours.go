package channel

import (
	"errors"
	"fmt"
	"time"
)

// QuietHours are the hours of a day in which messages wait, except critical
// ones if CriticalPasses is set.
type QuietHours struct {
	From     string `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" example:"22:00" doc:"Start, HH:MM"`
	To       string `json:"to" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" example:"07:00" doc:"End, HH:MM; on the next day if it is not after the start"`
	Timezone string `json:"timezone" minLength:"1" maxLength:"64" example:"Europe/Berlin" doc:"Name of a time zone in the IANA database"`
	// CriticalPasses is a switch.
	CriticalPasses bool `json:"critical_passes" example:"true" doc:"true if critical events are sent during quiet hours"`
}

// clock is the format of a time of day.
const clock = "15:04"

// check returns what is wrong with the quiet hours. nil is valid.
func (q *QuietHours) check() error {
	if q == nil {
		return nil
	}
	if _, err := q.location(); err != nil {
		return err
	}
	if q.From == q.To {
		return errors.New("from and to must differ")
	}
	for _, at := range []string{q.From, q.To} {
		if _, err := time.Parse(clock, at); err != nil {
			return errors.New("from and to must be times such as 22:00")
		}
	}
	return nil
}

// location returns the time zone of the quiet hours.
func (q *QuietHours) location() (*time.Location, error) {
	zone, err := time.LoadLocation(q.Timezone)
	if err != nil || q.Timezone == "" || q.Timezone == "Local" {
		return nil, errors.New("timezone must be a name of the IANA database, such as Europe/Berlin")
	}
	return zone, nil
}

// End returns when the quiet hours that contain now end; the zero time if now
// is not in quiet hours. From and To are local times, so quiet hours are an
// hour shorter or longer when daylight saving time changes during them.
func (q *QuietHours) End(now time.Time) (time.Time, error) {
	if q == nil {
		return time.Time{}, nil
	}
	zone, err := q.location()
	if err != nil {
		return time.Time{}, err
	}
	now = now.In(zone)
	from, err1 := time.Parse(clock, q.From)
	to, err2 := time.Parse(clock, q.To)
	if err := errors.Join(err1, err2); err != nil {
		return time.Time{}, fmt.Errorf("reading quiet hours: %w", err)
	}
	at := func(day int, t time.Time) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+day, t.Hour(), t.Minute(), 0, 0, zone)
	}
	over := 0
	if !to.After(from) {
		over = 1
	}
	for _, day := range []int{-1, 0} { // those that began yesterday, and those that begin today
		begin, end := at(day, from), at(day+over, to)
		if !now.Before(begin) && now.Before(end) {
			return end, nil
		}
	}
	return time.Time{}, nil
}
