package setting_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/setting"
)

func change(t *testing.T, d *db.DB, name, value string) error {
	t.Helper()
	_, err := (&setting.Store{DB: d}).Update(t.Context(), setting.Changes{name: json.RawMessage(value)})
	return err
}

func get[T any](t *testing.T, d *db.DB, key setting.Key[T]) T {
	t.Helper()
	v, err := setting.Get(t.Context(), d, key)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	values, err := setting.List(t.Context(), dbtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for _, v := range values {
		got[v.Key] = v.Value
		if v.Set || v.Doc == "" {
			t.Errorf("%+v", v)
		}
	}
	want := map[string]any{
		"catalog_stale_after_s": 172800, "poll.interval_s": 30, "metrics.retention_raw_days": 2, "metrics.retention_5m_days": 30,
		"metrics.retention_1h_days": 730, "audit.retention_days": 0, "audit.address_days": 0, "jobs.keep_days": 90, "backup.max_age_days": 7,
		"backup.report_at":        "07:00 UTC",
		"poll.details_per_minute": 20, "upload.limit_mib": 16384, "upload.keep_free_mib": 1024,
		"console.idle_s": 1800, "console.record_apps": false, "console.record_vms": false, "console.record_shells": false,
		"console.recording_days": 30, "console.recording_limit_mib": 64, "console.recordings_total_mib": 10240,
		"self.host_id":          (*int64)(nil),
		"entitlements.disabled": []string{}, "ssh.from_addresses": []string{}, "onboarding.complete": false,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestChangeHoldsAtOnceOnEveryInstance(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	a, b := dbtest.Open(t, url), dbtest.Open(t, url)
	for name, value := range map[string]string{
		"poll.interval_s": "60", "self.host_id": "7", "entitlements.disabled": `["store.catalog"]`, "onboarding.complete": "true",
	} {
		if err := change(t, a, name, value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := get(t, b, setting.PollInterval); n != 60 {
		t.Errorf("poll interval %d", n)
	}
	if id := get(t, b, setting.SelfHost); id == nil || *id != 7 {
		t.Errorf("self host %v", id)
	}
	if off := get(t, b, setting.EntitlementsDisabled); !slices.Equal(off, []string{"store.catalog"}) {
		t.Errorf("entitlements %v", off)
	}
	if !get(t, b, setting.OnboardingComplete) {
		t.Error("onboarding is not complete")
	}
	for _, name := range []string{"poll.interval_s", "self.host_id"} {
		if err := change(t, b, name, "null"); err != nil {
			t.Errorf("clearing %s: %v", name, err)
		}
	}
	if n, id := get(t, a, setting.PollInterval), get(t, a, setting.SelfHost); n != 30 || id != nil {
		t.Errorf("after clearing: %d, %v", n, id)
	}
	err := a.Tx(t.Context(), func(tx *db.Tx) error { return setting.Set(t.Context(), tx, setting.SelfHost, nil, nil) })
	if id := get(t, a, setting.SelfHost); err != nil || id != nil {
		t.Errorf("null set: %v, %v", id, err)
	}
}

func TestChangeRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	for _, test := range []struct{ name, value string }{
		{"poll.interval_s", "4"}, {"poll.interval_s", "3601"}, {"poll.interval_s", "-30"}, {"poll.interval_s", "30.5"},
		{"poll.interval_s", `"30"`},
		{"poll.interval_s", "99999999999999999999"}, {"poll.interval_s", "true"}, {"poll.interval_s", "[30]"}, {"poll.interval_s", "{}"},
		{"poll.interval_s", ""},
		{"poll.interval_s", "30 30"}, {"audit.retention_days", "36501"}, {"audit.address_days", "-1"},
		{"self.host_id", "0"}, {"self.host_id", "-1"},
		{"self.host_id", `"canary"`},
		{"entitlements.disabled", `"canary"`}, {"entitlements.disabled", `[1]`}, {"entitlements.disabled", `[""]`},
		{"entitlements.disabled", `["a b"]`},
		{"ssh.from_addresses", `"192.0.2.1"`}, {"ssh.from_addresses", `["canary.example.com"]`},
		{"ssh.from_addresses", `["192.0.2.1\" command=\"id"]`}, {"ssh.from_addresses", `["192.0.2.1/24"]`},
		{"ssh.from_addresses", `["fe80::1%eth0"]`}, {"ssh.from_addresses", `["*"]`}, {"ssh.from_addresses", `[""]`},
		{"ssh.from_addresses", `["192.0.2.1"` + strings.Repeat(`,"192.0.2.1"`, 20) + `]`},
		{"backup.report_at", "7"}, {"backup.report_at", `"canary"`}, {"backup.report_at", `"25:00 UTC"`}, {"backup.report_at", `"07:00"`},
		{"backup.report_at", `"07:00 Local"`}, {"backup.report_at", `"07:00 ../canary"`}, {"backup.report_at", `"7:00 UTC"`},
		{"entitlements.disabled", `["` + strings.Repeat(`a","`, 101) + `b"]`}, {"onboarding.complete", "1"},
		{"unknown", "1"}, {"", "1"}, {"POLL.INTERVAL_S", "60"}, {"poll.interval_s ", "60"}, {"poll%", "60"}, {"a\x00b", "1"},
	} {
		err := change(t, d, test.name, test.value)
		p := problem.From(err)
		if err == nil || p.Code != problem.CodeInvalid || len(p.Faults) != 1 || !reflect.DeepEqual(p.Faults[0].Loc, []any{"body",
			test.name}) {
			t.Errorf("%s = %s: %v", test.name, test.value, err)
		}
		if strings.Contains(p.Error()+p.Faults[0].Msg, "canary") {
			t.Errorf("%s: the value is repeated: %v", test.name, p)
		}
	}
	err := d.Tx(t.Context(), func(tx *db.Tx) error { return setting.Set(t.Context(), tx, setting.JobsKeep, 0, nil) })
	if problem.CodeOf(err) != problem.CodeInvalid || err == nil {
		t.Errorf("typed: %v", err)
	}
	var rows int
	if err := d.Pool.QueryRow(t.Context(), "SELECT count(*) FROM settings").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// A row that someone has written by hand gives the default and an error that names the key.
func TestSpoiltRowsDoNotStopAnyone(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	for _, value := range []string{`"canary"`, "0", "null", "[]"} {
		_, err := d.Pool.Exec(t.Context(), `INSERT INTO settings (key, value) VALUES ('poll.interval_s', $1::jsonb)
			ON CONFLICT (key) DO UPDATE SET value = excluded.value`, value)
		if err != nil {
			t.Fatal(err)
		}
		n, err := setting.Get(t.Context(), d, setting.PollInterval)
		if n != 30 || err == nil || !strings.Contains(err.Error(), "poll.interval_s") || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %d, %v", value, n, err)
		}
	}
	if values, err := setting.List(t.Context(), d); err != nil || len(values) != 24 {
		t.Errorf("%v, %v", values, err)
	}
}
