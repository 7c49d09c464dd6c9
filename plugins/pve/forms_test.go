package pve

import (
	"strconv"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestUPIDs(t *testing.T) {
	t.Parallel()
	at := time.Unix(0x6B00EBE4, 0).UTC()
	for text, want := range map[string]upid{
		"UPID:pve1:00001D3E:00055749:6B00EBE4:qmdestroy:206:root@pam!test:": {node: "pve1", started: at, kind: "qmdestroy", id: "206",
			user: "root@pam", tokenID: "test"},
		"UPID:pve-2:00001D3E:105574901:6B00EBE4:vzstart:101:a@pve:": {node: "pve-2", started: at, kind: "vzstart", id: "101",
			user: "a@pve"},
		"UPID:n:000586C3:0078E111:6B00EBE4:aptupdate::root@pam:": {node: "n", started: at, kind: "aptupdate", user: "root@pam"},
		"UPID:n:000586C3:0078E111:6B00EBE4:imgdel:local@vm-1-disk/0:r@pam:": {node: "n", started: at, kind: "imgdel", id: "local@vm-1-disk/0",
			user: "r@pam"},
	} {
		want.text = text
		if got, err := parseUPID(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{
		"", "UPID:", "UPID:bogus", "upid:pve1:00001D3E:00055749:6B00EBE4:qmstart:1:root@pam:",
		"UPID:pve1:00001D3E:00055749:6B00EBE4:qmstart:1:root@pam",
		"UPID:../x:00001D3E:00055749:6B00EBE4:qmstart:1:root@pam:", "UPID:pve1:00001D3E:00055749:6B00EBE4:qmstart:1:root@pam:/x",
		"UPID:pve1:1D3E:00055749:6B00EBE4:qmstart:1:root@pam:", "UPID:pve1:00001D3E:00055749:6B00EBE4:qm start:1:root@pam:",
		"UPID:pve1:00001D3E:00055749:6B00EBE4:qmstart:1:root@pam:\n", "UPID:pve1:00001D3E:00055749:6B00EBE4::1:root@pam:",
	} {
		if got, err := parseUPID(bad); err == nil || plugin.KindOf(err) != plugin.NotFound {
			t.Errorf("%q: %+v, %v", bad, got, err)
		}
	}
}

func TestGuestsOfTasks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]hypervisor.GuestID{
		"UPID:a:00000001:00000001:6B00EBE4:qmstart:206:r@pam:": "206", "UPID:a:00000001:00000001:6B00EBE4:vzdump:100:r@pam:": "100",
		"UPID:a:00000001:00000001:6B00EBE4:vzdump::r@pam:": "", "UPID:a:00000001:00000001:6B00EBE4:srvreload:networking:r@pam:": "",
		"UPID:a:00000001:00000001:6B00EBE4:cephcreateosd:100:r@pam:": "", "UPID:a:00000001:00000001:6B00EBE4:qmstart:99:r@pam:": "",
		"UPID:a:00000001:00000001:6B00EBE4:qmstart:99999999999999999999:r@pam:": "",
	} {
		u, err := parseUPID(text)
		if err != nil || u.guestID() != want {
			t.Errorf("%s: %q, %v", text, u.guestID(), err)
		}
	}
}

func TestTaskRowsOfBothLists(t *testing.T) {
	t.Parallel()
	const id = "UPID:pve1:00001D6A:000557F1:6B00EBE5:qmshutdown:100:root@pam!test:"
	row := func(status pveapi.Text, end int64) taskRow {
		return taskRow{UPID: id, Status: status, User: "root@pam", End: pveapi.Int{N: end, Set: end > 0}}
	}
	for name, c := range map[string]struct {
		row    taskRow
		status string
		text   string
	}{
		"running in the cluster's": {row("", 0), hypervisor.TaskRunning, ""},
		"running in the node's":    {row("RUNNING", 0), hypervisor.TaskRunning, ""},
		"good":                     {row("OK", 9), hypervisor.TaskOK, ""},
		"warnings":                 {row("WARNINGS: 1", 9), hypervisor.TaskWarning, ""},
		"unexpected":               {row("unexpected status", 9), hypervisor.TaskUnknown, "unexpected status"},
		"no word":                  {row("", 9), hypervisor.TaskUnknown, ""},
		"failed":                   {row("VM 100 already running", 9), hypervisor.TaskFailed, "VM 100 already running"},
	} {
		got, ok := taskOf(c.row)
		if !ok || got.Status != c.status || got.Error != c.text || got.User != "root@pam" || got.TokenID != "test" ||
			got.Operation != hypervisor.Shutdown.Operation() ||
			got.GuestID != "100" || got.Node != "pve1" || got.Ended.IsZero() != (c.status == hypervisor.TaskRunning) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	joined := taskRow{UPID: id, User: "root@pam!test"}
	if got, _ := taskOf(joined); got.User != "root@pam" || got.TokenID != "test" {
		t.Errorf("user of a running task: %+v", got)
	}
}

func TestGuestStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, qmp, lock string
		up                bool
		want              string
	}{
		{"running", "", "", true, hypervisor.GuestRunning},
		{"running", "running", "", true, hypervisor.GuestRunning},
		{"running", "paused", "", true, hypervisor.GuestPaused},
		{"running", "prelaunch", "", true, hypervisor.GuestPaused},
		{"running", "prelaunch", "backup", true, hypervisor.GuestStopped},
		{"running", "running", "backup", true, hypervisor.GuestRunning},
		{"running", "suspended", "", true, hypervisor.GuestPaused},
		{"running", "io-error", "", true, hypervisor.GuestPaused},
		{"running", "something-new", "", true, hypervisor.GuestRunning},
		{"paused", "", "", true, hypervisor.GuestPaused},
		{"stopped", "stopped", "", false, hypervisor.GuestStopped},
		{"stopped", "suspended", "", false, hypervisor.GuestSuspended},
		{"stopped", "", "suspended", false, hypervisor.GuestSuspended},
		{"stopped", "", "suspending", false, hypervisor.GuestStopped},
		{"suspended", "", "", false, hypervisor.GuestSuspended},
		{"unknown", "", "", false, hypervisor.GuestUnknown},
		{"", "", "", false, hypervisor.GuestUnknown},
		{"something-new", "", "", false, hypervisor.GuestUnknown},
	} {
		if got := guestState(c.status, c.qmp, c.lock, c.up); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestVersionForms(t *testing.T) {
	t.Parallel()
	for _, c := range [][4]string{
		{"9.2.11", "9.2", "9.2.11", "9.2"}, {"6.2-4", "6.2", "6.2-4", "6.2"}, {"5.4", "13", "5.4-13", "5.4"}, {"7.4-16", "7.4", "7.4-16", "7.4"},
		{"10", "", "10", "10"}, {"8.4.1", "", "8.4.1", "8.4"},
	} {
		if v, r := versionOf(c[0], c[1]); v != c[2] || r != c[3] {
			t.Errorf("%v: %s %s", c, v, r)
		}
	}
	if !parseRelease("6.4").before(release{7, 0}) || parseRelease("7.0").before(release{7, 0}) || parseRelease("x").before(release{9, 0}) ||
		!parseRelease("9.2").before(release{10, 0}) {
		t.Error("releases are ordered wrongly")
	}
}

// TestExportWindowIsBounded: the export of a large cluster must not take the hypervisor's breath away.
func TestExportWindowIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		guests int
		since  time.Duration
		back   time.Duration // 0: the newest only
	}{
		"first time": {100, 0, 0}, "small, usual": {20, 5 * time.Minute, 5 * time.Minute},
		"small, long gone": {20, 5 * time.Hour, 30 * time.Minute},
		"thousand, usual":  {1000, 5 * time.Minute, 40 * time.Second}, "thousand, gap": {1000, 20 * time.Minute, 190 * time.Second},
		"ten thousand": {10000, 5 * time.Minute, 0},
	} {
		b := &pager{guests: c.guests, members: &membership{}, bound: c.guests / 10}
		var since time.Time
		if c.since > 0 {
			since = now.Add(-c.since)
		}
		query := exportWindow(since, now, b)
		if c.back == 0 {
			if len(query) > 0 {
				t.Errorf("%s: %v", name, query)
			}
			continue
		}
		if want := now.Add(-c.back).Unix(); query.Get("history") != "1" || query.Get("start-time") != strconv.FormatInt(want, 10) {
			t.Errorf("%s: %v, want %d", name, query, want)
		}
	}
}
