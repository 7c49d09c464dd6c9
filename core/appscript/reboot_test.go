package appscript_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// A node that goes down in the middle of an update takes the script with it: the container is set back as soon as the node is up again,
// and the script is not run again.
func TestNodeRebootedInAnUpdate(t *testing.T) {
	t.Parallel()
	const script = newVersion + "echo run >>/root/counted; echo on; sleep 1000"
	f := newFixture(t, map[string]string{"starts": script, "stays-down": script})
	for _, slug := range []string{"starts", "stays-down"} {
		f.machine.Run(boot(f.apps[slug].ref.ID)) // the boot before has left it alone
		id := f.ask(fmt.Sprintf("apps/%d/update", f.apps[slug].id), `{"consent":true}`)
		waittest.Until(t, "the script is on", func() bool {
			return f.Value("SELECT count(*) FROM job_events WHERE job_id = $1 AND text = 'on'", id) == "1"
		})
		f.machine.PowerOff()
		f.machine.Boot()
		if slug == "starts" {
			f.machine.Run(boot(f.apps[slug].ref.ID))
		}
		f.machine.SSH.CloseConnections() // what was connected before ends, as it does where the server goes down with its machine
		transcript := f.ended(id, "failed")
		if !strings.Contains(transcript, "the container went down while the script was running") {
			t.Errorf("the transcript is\n%s", transcript)
		}
		if got := f.last(slug); got != "rolled_back 1.0 1.0 none" {
			t.Errorf("what came of it is %q:\n%s", got, transcript)
		}
		if got := f.page(slug); got != "one" {
			t.Errorf("the page says %q:\n%s", got, transcript)
		}
		if counted := f.inside(slug, "cat /root/counted 2>/dev/null || true"); counted != "" {
			t.Errorf("the container was not set back: %q", counted)
		}
	}
}
