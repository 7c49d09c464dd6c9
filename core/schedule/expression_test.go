package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests do not depend on the machine's zones

	"github.com/hostler/hostler/core/schedule"
)

func expression(t testing.TB, text, zone string) *schedule.Expression {
	t.Helper()
	e, err := schedule.NewExpression(text, zone)
	if err != nil {
		t.Fatalf("%s in %s: %v", text, zone, err)
	}
	return e
}

// Each row is the clock's change of one zone: the times at which the expression is due after begin, in UTC.
func TestChangesOfTheClock(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, cron, zone, begin, want string }{
		// 29 March 2026: 02:00 CET (01:00 UTC) becomes 03:00 CEST.
		{"daily in the skipped hour", "30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", "28 01:30, 29 01:00, 30 00:30"},
		{"daily at the first minute skipped", "0 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "29 01:00, 30 00:00"},
		{"daily right after the skip", "0 3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "29 01:00, 30 01:00"},
		{"skipped and not skipped fall together", "0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "29 01:00, 30 00:00, 30 01:00"},
		{"several skipped are one", "*/15 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "29 01:00, 30 00:00, 30 00:15"},
		{"hourly over the skip", "30 * * * *", "Europe/Berlin", "2026-03-28T23:40:00Z", "29 00:30, 29 01:30, 29 02:30"},
		{"hourly at 0 over the skip", "0 * * * *", "Europe/Berlin", "2026-03-28T23:40:00Z", "29 00:00, 29 01:00, 29 02:00"},
		{"quarters over the skip", "*/15 * * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", "29 00:45, 29 01:00, 29 01:15"},
		{"asked at the moment of the change", "30 2 * * *", "Europe/Berlin", "2026-03-29T01:00:00Z", "30 00:30"},
		{"asked just before", "30 2 * * *", "Europe/Berlin", "2026-03-29T00:59:59.5Z", "29 01:00"},
		// 25 October 2026: 03:00 CEST (01:00 UTC) becomes 02:00 CET.
		{"daily in the doubled hour", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "25 00:30, 26 01:30"},
		{"daily at the first minute doubled", "0 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "25 00:00, 26 01:00"},
		{"daily after the doubled hour", "0 3 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "25 02:00, 26 02:00"},
		{"asked at the second pass", "0 2,3 * * *", "Europe/Berlin", "2026-10-25T01:00:00Z", "25 02:00, 26 01:00"},
		{"asked within the second pass", "30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", "26 01:30"},
		{"quarters of one doubled hour", "*/15 2 * * *", "Europe/Berlin", "2026-10-25T00:20:00Z", "25 00:30, 25 00:45, 26 01:00"},
		{"hourly over the doubled hour", "30 * * * *", "Europe/Berlin", "2026-10-24T23:40:00Z", "25 00:30, 25 01:30, 25 02:30"},
		{"quarters over the doubled hour", "*/15 * * * *", "Europe/Berlin", "2026-10-25T00:40:00Z", "25 00:45, 25 01:00, 25 01:15"},
		{"every hour by step is hourly", "30 */1 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "25 00:30, 25 01:30"},
		{"every second hour", "0 */2 * * *", "Europe/Berlin", "2026-10-24T22:30:00Z", "25 00:00, 25 03:00, 25 05:00"},
		// 8 March and 1 November 2026, at 07:00 and 06:00 UTC.
		{"daily skipped", "30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", "08 07:00, 09 06:30"},
		{"daily doubled", "30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", "01 05:30, 02 06:30"},
		{"hourly skipped", "0 * * * *", "America/New_York", "2026-03-08T05:30:00Z", "08 06:00, 08 07:00, 08 08:00"},
		{"hourly doubled", "0 * * * *", "America/New_York", "2026-11-01T04:30:00Z", "01 05:00, 01 06:00, 01 07:00"},
		{"quarters doubled", "*/15 * * * *", "America/New_York", "2026-11-01T05:40:00Z", "01 05:45, 01 06:00"},
		// Midnight skipped: 24 April 2026 in Cairo, 29 March 2026 in Beirut, 4 November 2018 in São Paulo.
		{"midnight skipped", "0 0 * * *", "Africa/Cairo", "2026-04-22T23:00:00Z", "23 22:00, 24 21:00"},
		{"after midnight skipped", "30 0 * * *", "Asia/Beirut", "2026-03-27T23:00:00Z", "28 22:00, 29 21:30"},
		{"midnight of one date skipped", "0 0 4 11 *", "America/Sao_Paulo", "2018-11-01T00:00:00Z", "04 03:00"},
		{"hourly, midnight skipped", "0 * * * *", "America/Sao_Paulo", "2018-11-04T01:30:00Z", "04 02:00, 04 03:00, 04 04:00"},
		{"quarters, midnight skipped", "*/15 * * * *", "Africa/Cairo", "2026-04-23T21:40:00Z", "23 21:45, 23 22:00, 23 22:15"},
		{"weekly, midnight skipped", "0 0 * * FRI", "Africa/Cairo", "2026-04-20T00:00:00Z", "23 22:00, 30 21:00"},
		// Midnight comes twice: 18 February 2018 in São Paulo (00:00 becomes 23:00), at 02:00 UTC.
		{"the hour before midnight doubled", "30 23 * * *", "America/Sao_Paulo", "2018-02-17T12:00:00Z", "18 01:30, 19 02:30"},
		{"midnight after the doubled hour", "0 0 * * *", "America/Sao_Paulo", "2018-02-17T12:00:00Z", "18 03:00, 19 03:00"},
		{"hourly, doubled before midnight", "0 * * * *", "America/Sao_Paulo", "2018-02-18T00:30:00Z", "18 01:00, 18 02:00, 18 03:00"},
		// Half an hour: 4 October 2026, 02:00 (15:30 UTC of the 3rd) becomes 02:30; 5 April 2026, 02:00 (15:00 UTC of the 4th) becomes 01:30.
		{"daily in the skipped half hour", "10 2 * * *", "Australia/Lord_Howe", "2026-10-02T12:00:00Z", "02 15:40, 03 15:30, 04 15:10"},
		{"daily in the doubled half hour", "45 1 * * *", "Australia/Lord_Howe", "2026-04-03T12:00:00Z", "03 14:45, 04 14:45, 05 15:15"},
		{"hourly in the skipped half hour", "0 * * * *", "Australia/Lord_Howe", "2026-10-03T14:00:00Z", "03 14:30, 03 15:30, 03 16:00"},
		{"hourly past the skipped half hour", "45 * * * *", "Australia/Lord_Howe", "2026-10-03T14:20:00Z", "03 15:15, 03 15:45, 03 16:45"},
		{"hourly in the doubled half hour", "45 * * * *", "Australia/Lord_Howe", "2026-04-04T13:50:00Z", "04 14:45, 04 15:15, 04 16:15"},
		{"quarters in the skipped half hour", "*/15 * * * *", "Australia/Lord_Howe", "2026-10-03T15:10:00Z", "03 15:15, 03 15:30, 03 15:45"},
		{"quarters in the doubled half hour", "*/15 * * * *", "Australia/Lord_Howe", "2026-04-04T14:40:00Z", "04 14:45, 04 15:00, 04 15:15"},
		// Half an hour before midnight, in 2018, and a whole hour that begins at a quarter to.
		{"hourly in a skipped half hour before midnight", "45 * * * *", "Asia/Pyongyang", "2018-05-04T14:00:00Z",
			"04 14:15, 04 15:00, 04 15:45"},
		{"hourly over a skip at a quarter to", "17 * * * *", "Pacific/Chatham", "2018-09-29T13:00:00Z", "29 13:32, 29 14:32, 29 15:32"},
		// Two hours: 29 March 2026, 01:00 becomes 03:00.
		{"daily in two skipped hours", "30 1 * * *", "Antarctica/Troll", "2026-03-28T12:00:00Z", "29 01:00, 29 23:30"},
		// A whole day: 30 December 2011 does not exist in Samoa.
		{"a skipped day", "0 12 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z", "29 22:00, 30 10:00, 30 22:00"},
		// Summer time is the one that is lowered in Ireland.
		{"negative saving", "30 1 * * *", "Europe/Dublin", "2026-03-28T12:00:00Z", "29 01:00, 30 00:30"},
		{"no change", "0 2 * * *", "UTC", "2026-03-29T00:00:00Z", "29 02:00, 30 02:00"},
		// The day fields: either fits when both are given.
		{"13th or Friday", "0 0 13 * FRI", "UTC", "2026-02-10T00:00:00Z", "13 00:00, 20 00:00, 27 00:00"},
		{"Sunday is 0 and 7", "0 0 * * 7", "UTC", "2026-02-10T00:00:00Z", "15 00:00"},
	}
	for _, test := range tests {
		t.Run(test.name+" "+test.zone, func(t *testing.T) {
			t.Parallel()
			e := expression(t, test.cron, test.zone)
			at, err := time.Parse(time.RFC3339, test.begin)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for range strings.Count(test.want, ",") + 1 {
				at = e.Next(at)
				got = append(got, at.Format("02 15:04"))
			}
			if s := strings.Join(got, ", "); s != test.want {
				t.Errorf("%s: got %s, want %s", test.cron, s, test.want)
			}
		})
	}
}

var zones = []string{
	"Europe/Berlin", "Europe/London", "Europe/Dublin", "America/New_York", "America/Sao_Paulo", "America/Havana", "America/Santiago",
	"America/Asuncion",
	"America/Scoresbysund", "America/St_Johns", "Africa/Cairo", "Africa/Casablanca", "Asia/Beirut", "Asia/Gaza", "Asia/Tehran",
	"Asia/Kathmandu",
	"Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Norfolk", "Atlantic/Azores", "Antarctica/Troll", "UTC",
}

// changes are the moments between begin and end at which the zone's clock is changed.
func changes(zone *time.Location, begin, end time.Time) (all []time.Time) {
	for at := begin.In(zone); ; {
		_, next := at.ZoneBounds()
		if next.IsZero() || !next.Before(end) {
			return all
		}
		all, at = append(all, next), next.In(zone)
	}
}

var tenYears = [2]time.Time{time.Date(2018, 1, 1, 12, 0, 0, 0, time.UTC), time.Date(2028, 1, 1, 12, 0, 0, 0, time.UTC)}

// A daily time is due exactly once a day: in all of ten years, and around every change for times of day all around it.
func TestNoDayIsMissedOrDoubled(t *testing.T) {
	t.Parallel()
	for _, zone := range zones {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			location, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			daily(t, "30 2", location, tenYears[0], tenYears[1])
			for _, change := range changes(location, tenYears[0], tenYears[1]) {
				for _, clock := range []string{"0 0", "30 0", "0 1", "45 1", "0 2", "10 2", "0 3", "59 23", "30 22"} {
					daily(t, clock, location, change.AddDate(0, 0, -3), change.AddDate(0, 0, 3))
				}
			}
		})
	}
}

func daily(t *testing.T, clock string, location *time.Location, begin, end time.Time) {
	t.Helper()
	e := expression(t, clock+" * * *", location.String())
	day := begin.In(location)
	for at := e.Next(time.Date(day.Year(), day.Month(), day.Day(), 23, 59, 30, 0, location)); at.Before(end); at = e.Next(at) {
		local := at.In(location)
		if clock == "59 23" || clock == "30 22" {
			local = local.Add(-time.Second) // a skip that ends at midnight makes up for it at the first moment of the next day
		}
		if want := time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0,
			time.UTC).Format(time.DateOnly); local.Format(time.DateOnly) != want {
			t.Fatalf("%s is due at %s, want a time on %s", clock, local, want)
		}
		day = local
	}
}

// Hours and quarters go by elapsed time over every change. On Lord Howe Island, half an hour is saved.
func TestEachRealHour(t *testing.T) {
	t.Parallel()
	for _, zone := range zones {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for text, every := range map[string]time.Duration{"17 * * * *": time.Hour, "0 * * * *": time.Hour, "*/15 * * * *": 15 * time.Minute} {
			least, most := every, every
			if zone == "Australia/Lord_Howe" && every == time.Hour {
				least, most = 30*time.Minute, 90*time.Minute
			}
			e := expression(t, text, zone)
			for _, change := range changes(location, tenYears[0], tenYears[1]) {
				for at := e.Next(change.Add(-4 * time.Hour)); at.Before(change.Add(4 * time.Hour)); {
					next := e.Next(at)
					if gap := next.Sub(at); gap < least || gap > most {
						t.Fatalf("%s: %s is followed by %s", text, at.In(location), next.In(location))
					}
					at = next
				}
			}
		}
	}
}

// What Next says does not depend on the moment from which it is asked.
func TestNextFromAnywhere(t *testing.T) {
	t.Parallel()
	for _, zone := range zones {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		moments := changes(location, time.Date(2025, 9, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC))
		for _, text := range []string{"30 2 * * *", "*/20 1-3 * * *", "0 * * * *", "0 0 * * *", "15 */6 1,15 * *", "0 4 29 2 *"} {
			e := expression(t, text, zone)
			for _, change := range append(moments, time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)) {
				for at := change.Add(-5 * time.Hour); at.Before(change.Add(5 * time.Hour)); at = at.Add(11*time.Minute + 7*time.Second) {
					next := e.Next(at)
					if !next.After(at) {
						t.Fatalf("%s in %s: %s after %s", text, zone, next, at)
					}
					if again := e.Next(next.Add(-time.Millisecond)); !again.Equal(next) {
						t.Fatalf("%s in %s: %s from afar and %s from near", text, zone, next, again)
					}
				}
			}
		}
	}
}

func TestRareTimes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0 2 29 2 *":     "2028-02-29 02:00",
		"30 2 31 3 *":    "2027-03-31 02:30",
		"0 2 29 2 MON":   "2027-02-01 02:00", // either day field is enough
		"59 23 31 12 *":  "2026-12-31 23:59",
		"0 0 1 jan *":    "2027-01-01 00:00",
		"0 0 * Dec sun ": "2026-12-06 00:00",
	} {
		e := expression(t, text, "Europe/Berlin")
		berlin, _ := time.LoadLocation("Europe/Berlin")
		if got := e.Next(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)).In(berlin).Format("2006-01-02 15:04"); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestParseCron(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"* * * * *": "* * * * *", "  0   2 * *\tMON-FRI ": "0 2 * * MON-FRI", "*/5 8-18/2 1,15 JAN-jun sun": "*/5 8-18/2 1,15 JAN-jun sun",
		"0 22-2 * NOV-FEB 7": "0 22-2 * NOV-FEB 7",
	} {
		if got, err := schedule.ParseCron(text); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "five fields", "* * * *": "five fields", "0 * * * * *": "five fields", "@daily": "five fields", "@every 1h": "five fields",
		"@every 1s * * *": "field minute",
		"60 * * * *":      "field minute", "* 24 * * *": "field hour", "* * 0 * *": "field day of month", "* * 32 * *": "field day of month",
		"* * * 13 *": "field month",
		"* * * * 8":  "field day of week", "* * * * FRI#3": "field day of week", "* * L * *": "field day of month",
		"* * 15W * *": "field day of month", "H * * * *": "field minute",
		"? * * * *": "field minute", "*/0 * * * *": "field minute", "-1 * * * *": "field minute", "1- * * * *": "field minute",
		"1,, * * * *":                  "field minute",
		"99999999999999999999 * * * *": "field minute", "0 0 31 2 *": "never matches", "0 0 30 FEB *": "never matches",
		"0 0 31 4,6,9,11 *": "never matches",
		"TZ=UTC * * * *":    "field minute", "TZ=UTC * * * * *": "five fields", "CRON_TZ=UTC 0 0 * * *": "five fields",
		"０ * * * *": "field minute", "0 0 * * \x00": "field day of week",
		strings.Repeat("*", 10000): "characters", strings.Repeat("* ", 5000): "characters", strings.Repeat("1,", 100) + "1 * * * *": "",
	} {
		if want == "" {
			continue
		}
		got, err := schedule.ParseCron(text)
		if err == nil || !strings.Contains(err.Error(), want) || got != "" {
			t.Errorf("%.60q: %q, %v; want an error with %q", text, got, err, want)
		}
	}
}

func TestParseZone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"} {
		if zone, err := schedule.ParseZone(name); err != nil || zone.String() != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "Local", "localtime", "right/Europe/Berlin", "posix/UTC", "posixrules", "Europe", "Mars/Olympus",
		"../UTC", "/etc/localtime",
		"Europe/../UTC", `Europe\Berlin`, "Europe/Berlin\x00", "europe/berlin", strings.Repeat("A", 10000)} {
		if _, err := schedule.ParseZone(name); err == nil {
			t.Errorf("%.40q is accepted", name)
		}
	}
}

// FuzzCron reads anything: no panic, no endless search, and what is accepted comes and keeps coming later.
func FuzzCron(f *testing.F) {
	for _, seed := range []string{"* * * * *", "0 0 31 2 *", "0 0 29 2 MON", "*/7 1-5/2 L * FRI#L", "@every 1ns", "TZ=X * * * * *",
		"1-0 0-0 31 2-2 0-7/3", "99999999999999999999/9 * * * *", "0 0 30-31/1 2 *"} {
		f.Add(seed, int64(1_770_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		clean, err := schedule.ParseCron(text)
		if err == nil {
			at := time.Unix(unix%4_000_000_000, 0)
			for _, zone := range []string{"UTC", "Europe/Berlin", "Australia/Lord_Howe"} {
				e, err := schedule.NewExpression(clean, zone)
				if err != nil {
					t.Fatalf("%q was accepted and is now refused: %v", clean, err)
				}
				for next := at; ; {
					was := next
					if next = e.Next(was); next.IsZero() || next.Sub(at) > 100*24*time.Hour {
						break
					}
					if !next.After(was) {
						t.Fatalf("%q: %s after %s", clean, next, was)
					}
					if next.Sub(at) > 2*time.Hour {
						at = at.AddDate(-1, 0, 0)
						break
					}
				}
			}
		}
	})
}

func ExampleExpression_Next() {
	e, _ := schedule.NewExpression("30 2 * * *", "Europe/Berlin")
	at := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	for range 2 {
		at = e.Next(at)
		fmt.Println(at.Format(time.RFC3339))
	}
	// Output:
	// 2026-03-29T01:00:00Z
	// 2026-03-30T00:30:00Z
}
