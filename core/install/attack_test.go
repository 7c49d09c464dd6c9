package install_test

import (
	"testing"

	"github.com/hostler/hostler/core/install"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/nodetest"
	"github.com/hostler/hostler/internal/waittest"
)

// tagged reports whether the hypervisor has a container tagged as failed.
func (w *world) tagged(id string) bool {
	w.t.Helper()
	w.must("polling", w.first.Poller.Sync(w.ctx, 1))
	return w.Value("SELECT 'hostler-failed' = ANY(tags) FROM guests WHERE ref = '"+id+"'") == "true"
}

// One byte that is another one after the consent is seen at each place that it passes, and nothing runs.
func changedBytes(t *testing.T, m *nodetest.Machine) {
	t.Run("at the source", func(t *testing.T) {
		w := newWorld(t, m, good)
		seen := w.sum()
		w.script(good + "\n")
		w.refresh()
		if w.sum() == seen {
			t.Fatal("the bundle is the same")
		}
		// What was agreed to is installed, and not what the source has now.
		id := w.ask(func(o *install.Order) { o.Sum = &seen })
		w.ended(id, job.Succeeded)
		if got := w.Value("SELECT bundle FROM app_installs"); got != seen {
			t.Errorf("installed was %s", got)
		}
		// And a consent for one is none for another.
		if _, err := w.first.Installs.Ask(w.ctx, 1, install.Order{Path: "wiki", HostID: 1, Name: "x", Consent: true}); problem.CodeOf(err) !=
			problem.CodeConsentRequired {
			t.Errorf("the new one without its sum: %v", err)
		}
		other := "0" + seen[1:]
		if seen[0] == '0' {
			other = "1" + seen[1:]
		}
		if _, err := w.first.Installs.Ask(w.ctx, 1, order(other)); problem.CodeOf(err) != problem.CodeInvalidState {
			t.Errorf("a sum that nothing has: %v", err)
		}
	})
	t.Run("in the store", func(t *testing.T) {
		w := newWorld(t, m, good)
		w.sum()
		w.Exec("UPDATE bundle_files SET data = data || 'x'::bytea WHERE sum IN (SELECT sum FROM bundle_files LIMIT 1)")
		w.ended(w.ask(), job.Failed, "is not what was agreed to; nothing was run")
		w.unrun()
	})
	for point, script := range map[string]string{
		"prepared": `f=$(ls /var/lib/hostler/runs/*/files/bundle/lib/more.sh); printf x >>"$f"`,
		"taken":    `true`,
	} {
		t.Run("on the node, "+point, func(t *testing.T) {
			w := newWorld(t, m, good)
			at := w.gate(w.first, point)
			id := w.ask()
			<-at.reached
			m.Run(script)
			close(at.goOn)
			if point == "taken" { // nothing was there yet
				w.ended(id, job.Succeeded)
				return
			}
			w.ended(id, job.Failed, "nothing was run")
			w.unrun()
		})
	}
}

// unrun fails where a script has run, or something is left.
func (w *world) unrun() {
	w.t.Helper()
	if out := w.machine.Run("cat /root/counted 2>/dev/null || true"); out != "" || w.created() != 0 {
		w.t.Errorf("the script has run: %q", out)
	}
	if n := w.Value("SELECT count(*) FROM apps"); n != "0" {
		w.t.Errorf("%s apps were made", n)
	}
	w.nothingLeft()
}

// gate stops the jobs of an instance at a point until goOn is closed. The instance must not have begun one.
type gate struct{ reached, goOn chan struct{} }

func (w *world) gate(i *instance, point string) gate {
	g := gate{make(chan struct{}), make(chan struct{})}
	i.Installs.Hook(func(at string, _ int64) {
		if at == point {
			select {
			case <-g.reached:
			default:
				close(g.reached)
			}
			<-g.goOn
		}
	})
	return g
}

func canceled(t *testing.T, m *nodetest.Machine) {
	t.Run("while it runs", func(t *testing.T) {
		w := newWorld(t, m, `pct create 105 "$NAME" "$TAGS"; pct start 105; echo on; sleep 1000; echo all done`)
		id := w.ask()
		waittest.Until(t, "the script runs", func() bool { return w.created() == 1 })
		w.cancel(id)
		w.ended(id, job.Canceled, "the scripts were stopped", "the container 105 (my-wiki)")
		w.nothingLeft()
	})
	t.Run("before it runs", func(t *testing.T) {
		w := newWorld(t, m, good)
		at := w.gate(w.first, "prepared")
		id := w.ask()
		<-at.reached
		w.cancel(id)
		close(at.goOn)
		w.ended(id, job.Canceled)
		w.unrun()
	})
}

func (w *world) cancel(id int64) {
	w.t.Helper()
	_, err := w.first.Queue.RequestCancel(w.ctx, id, everything)
	w.must("canceling", err)
}
