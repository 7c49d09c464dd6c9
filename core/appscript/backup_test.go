package appscript_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// Where the storage takes no snapshots, a backup is made before, and the container is replaced by it where the update fails.
func TestUpdateWithABackup(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"works": works + "echo all done", "breaks": newVersion + "kill \"$(cat /root/pid)\"; exit 3"})
	f.backups("works", "breaks")
	for _, s := range []struct{ slug, status, last, page, says string }{
		{"works", "succeeded", "updated 1.0 2.0 none", "two", "updated from 1.0 to 2.0; the backup "},
		{"breaks", "failed", "rolled_back 1.0 1.0 none", "one", "the container was rolled back, and the app is as it was before"},
	} {
		id := f.ask(fmt.Sprintf("apps/%d/update", f.apps[s.slug].id), `{"consent":true}`)
		transcript := f.ended(id, s.status)
		for _, want := range []string{"no snapshot could be taken (the storage says no): making a backup instead", s.says} {
			if !strings.Contains(transcript, want) {
				t.Errorf("the transcript does not say %q:\n%s", want, transcript)
			}
		}
		if got := f.last(s.slug); got != s.last {
			t.Errorf("what came of it is %q", got)
		}
		if got := f.page(s.slug); got != s.page {
			t.Errorf("the page says %q:\n%s", got, transcript)
		}
		if made, restored := f.did("backup", s.slug), f.did("restore", s.slug); made != 1 || restored != strings.Count(s.status, "failed") {
			t.Errorf("%d backups were made, and %d restored", made, restored)
		}
	}
}

// A backup is no way back where a restore would destroy a volume that the backup leaves out: nothing is run.
func TestUpdateOfWhatABackupLeavesOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"breaks": newVersion + "exit 3"})
	f.backups("breaks")
	app := f.apps["breaks"]
	url := fmt.Sprintf("apps/%d/update", app.id)
	f.Cluster.ChangeConfig(app.ref.ID, func(c *hypervisor.Config) {
		c.Disks = append(c.Disks, hypervisor.Disk{Key: "mp0", Path: "/srv/data", Storage: "local", Volume: "local:data", LeftOut: true})
	})
	transcript := f.ended(f.ask(url, `{"consent":true}`), "failed")
	want := "a backup could not be used to roll back: backups do not include mp0 (/srv/data), and a restore would destroy that data; " +
		"nothing was run"
	if !strings.Contains(transcript, want) {
		t.Errorf("the transcript does not say %q:\n%s", want, transcript)
	}
	if made, restored := f.did("backup", "breaks"), f.did("restore", "breaks"); made+restored != 0 || f.page("breaks") != "one" {
		t.Errorf("%d backups were made and %d restored, and the page is %s", made, restored, f.page("breaks"))
	}
}
