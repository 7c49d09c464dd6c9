package schedule

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

const (
	// maxCron is the longest expression, in characters.
	maxCron = 256
	// horizon is how many years ahead a time is looked for. 29 February on one day of the week comes every 28 years, and
	// every 40 years where a century without a leap day lies between.
	horizon = 40
)

// Expression says when a schedule is due: a cron expression read on the clock of a time zone.
//
// An expression whose hour field lists every hour goes by elapsed time: it is due at each moment at which the clock shows
// one of its minutes, in both passes of an hour that the clock goes through twice. (Where a clock is changed by half an
// hour, it is due right after the skip too when its minute was skipped.) Any other is due once for each time of
// day that it lists: where the clock skips that time, right after the skip (once for all the times that are skipped
// together), and where the clock shows it twice, at the first.
type Expression struct {
	rule     *cron.SpecSchedule
	location *time.Location
	// everyHour: the hour field lists all of them.
	everyHour bool
}

// fields are the names of an expression's fields, in order.
var fields = [...]string{"minute", "hour", "day of month", "month", "day of week"}

var (
	parser = cron.MustNewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.DowOrDom).WithMaxSearchYears(horizon)
	// plainField bars what the library has beyond cron: macros, time zones inside the expression, hashes, question marks.
	plainField = regexp.MustCompile(`^[0-9A-Za-z*/-]+(,[0-9A-Za-z*/-]+)*$`)
	zoneName   = regexp.MustCompile(`^[A-Z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`)
)

// ParseCron checks an expression of five fields (minute, hour, day of month, month, day of week) and returns it with single
// spaces. Names such as MON and JAN are allowed; seconds, macros such as @daily and an expression that never comes are
// not. When neither day field is *, a day that fits one of them is enough, as everywhere in cron. The error can be told to
// anybody: it does not repeat the expression.
func ParseCron(text string) (string, error) {
	rule, err := parseRule(text)
	if err != nil {
		return "", err
	}
	if rule.Next(time.Now().UTC()).IsZero() {
		return "", errors.New("never matches")
	}
	return strings.Join(strings.Fields(text), " "), nil
}

func parseRule(text string) (*cron.SpecSchedule, error) {
	if len(text) > maxCron {
		return nil, fmt.Errorf("must have at most %d characters", maxCron)
	}
	parts := strings.Fields(text)
	if len(parts) != len(fields) {
		return nil, errors.New("must have exactly five fields: minute, hour, day of month, month, day of week")
	}
	for i, part := range parts {
		alone := [len(fields)]string{"*", "*", "*", "*", "*"}
		alone[i] = part
		// The library's message repeats what was given.
		if _, err := parser.Parse(strings.Join(alone[:], " ")); err != nil || !plainField.MatchString(part) {
			return nil, fmt.Errorf("the field %s is not valid", fields[i])
		}
	}
	parsed, err := parser.Parse(strings.Join(parts, " "))
	if err != nil {
		return nil, errors.New("is not a cron expression")
	}
	rule, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, errors.New("is not a cron expression")
	}
	return rule, nil
}

// ParseZone finds a time zone by its name in the IANA database, such as Europe/Berlin or UTC. The machine's own zone has no
// name here: instances on other machines would read the schedule otherwise.
func ParseZone(name string) (*time.Location, error) {
	if len(name) <= 64 && zoneName.MatchString(name) && name != "Local" {
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	return nil, errors.New("is not a time zone of the IANA database, such as Europe/Berlin or UTC")
}

// NewExpression reads an expression and the time zone that it is meant in.
func NewExpression(text, zone string) (*Expression, error) {
	rule, err := parseRule(text)
	if err != nil {
		return nil, fmt.Errorf("the cron expression %w", err)
	}
	location, err := ParseZone(zone)
	if err != nil {
		return nil, fmt.Errorf("the time zone %w", err)
	}
	const all = 1<<24 - 1
	return &Expression{rule: rule, location: location, everyHour: rule.Hour&all == all}, nil
}

// Next is the first time after the given one at which the schedule is due, in UTC; zero when there is none within 40
// years.
//
// The library is asked on a clock that never changes, and the changes are dealt with here: its own handling of them runs a
// time of the skipped hour at its minute of the following one, knows only changes of one whole hour, and begins a doubled
// hour anew.
func (e *Expression) Next(after time.Time) time.Time {
	at := after.In(e.location)
	from := later(wall(at), e.unseen(at))
	for {
		due := e.rule.Next(from)
		if due.IsZero() {
			return time.Time{}
		}
		_, end := at.ZoneBounds()
		moment := due.Add(-offset(at))
		if end.IsZero() || moment.Before(end) {
			return moment.UTC()
		}
		if ahead := moment.Add(-48 * time.Hour); ahead.After(end) {
			// Nothing is due before, so changes of the clock until then do not matter.
			at = ahead.In(e.location)
			from = wall(at)
			continue
		}
		before := end.Add(offset(at)).UTC()
		at = end.In(e.location)
		if e.skipped(before, wall(at)) {
			return at.UTC()
		}
		from = later(wall(at).Add(-time.Second), e.unseen(at)) // a time that the clock shows right at the change counts
	}
}

// unseen is the second before the first time that the clock had not shown before its last change: in the second pass of a
// doubled hour nothing of that hour is due again. For an expression of every hour that does not matter.
func (e *Expression) unseen(at time.Time) time.Time {
	start, _ := at.ZoneBounds()
	if e.everyHour || start.IsZero() {
		return time.Time{}
	}
	return wall(start.Add(-time.Second).In(e.location))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// skipped reports whether a time is made up for when the clock goes from before to behind. An expression of every hour is
// not concerned by a skip of whole hours: its next time is no farther away than always.
func (e *Expression) skipped(before, behind time.Time) bool {
	skip := behind.Sub(before)
	if skip <= 0 || e.everyHour && skip%time.Hour == 0 {
		return false
	}
	due := e.rule.Next(before.Add(-time.Second))
	return !due.IsZero() && due.Before(behind)
}

// wall is what the zone's clock shows, as if it were UTC.
func wall(t time.Time) time.Time { return t.Add(offset(t)).UTC() }

func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}
