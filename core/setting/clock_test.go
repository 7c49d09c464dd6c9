package setting_test

import (
	"testing"
	"time"

	"github.com/hostler/hostler/core/setting"
)

func TestLastClock(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ at, now, want string }{
		{"", "2026-03-10T06:00:00Z", "0001-01-01T00:00:00Z"},
		{"07:00 UTC", "2026-03-10T06:59:59Z", "2026-03-09T07:00:00Z"},
		{"07:00 UTC", "2026-03-10T07:00:00Z", "2026-03-10T07:00:00Z"},
		{"07:00 Europe/Berlin", "2026-03-10T06:00:00Z", "2026-03-10T06:00:00Z"},
		{"07:00 Europe/Berlin", "2026-03-29T06:00:00Z", "2026-03-29T05:00:00Z"},
		{"02:30 Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-29T01:30:00Z"}, // it is skipped that day
		{"00:00 Pacific/Auckland", "2026-03-10T11:00:00Z", "2026-03-10T11:00:00Z"},
		{"00:00 UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, test.now)
		if err != nil {
			t.Fatal(err)
		}
		got, err := setting.LastClock(test.at, now)
		if err != nil || got.UTC().Format(time.RFC3339) != test.want {
			t.Errorf("%s at %s: %s, want %s (%v)", test.at, test.now, got.UTC().Format(time.RFC3339), test.want, err)
		}
	}
}
