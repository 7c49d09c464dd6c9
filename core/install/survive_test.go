package install_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/install"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/nodetest"
	"github.com/hostler/hostler/internal/waittest"
)

var everything = identity.VisibleTeams{All: true}

// A connection that breaks all the time changes nothing of what comes of it.
func cutConnections(t *testing.T, m *nodetest.Machine) {
	w := newWorld(t, m, `echo on; while [ ! -e /root/go ]; do sleep 0.05; done
`+good)
	id := w.ask()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 8 {
			before := m.SSH.Logins()
			m.SSH.CloseConnections()
			waittest.Until(t, "someone asks again", func() bool { return m.SSH.Logins() > before })
		}
		_, _ = m.Try(context.Background(), "touch /root/go")
	}()
	<-done
	w.ended(id, job.Succeeded)
	if out := m.Run("cat /root/counted"); out != "run" {
		t.Errorf("it ran as often as this: %q", out)
	}
	w.nothingLeft()
}

// An instance that dies at any point of a job leaves it to another one, which goes on with what is on the machine: nothing runs twice.
func killed(t *testing.T, m *nodetest.Machine) {
	for _, point := range []string{"started", "taken", "prepared", "found", "ended", "cleaned"} {
		t.Run(point, func(t *testing.T) {
			w := newWorld(t, m, good)
			at := w.gate(w.first, point)
			id := w.ask()
			<-at.reached
			t.Cleanup(func() { close(at.goOn) })
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_ = w.first.Queue.Stop(ctx) // it does not come to a safe point, and loses the job
			w.instance()
			w.ended(id, job.Succeeded, "was interrupted and continues")
			if out := m.Run("cat /root/counted"); out != "run" || w.created() != 1 {
				t.Errorf("it ran as often as this: %q, and %d containers were made", out, w.created())
			}
			if n := w.Value("SELECT count(*) FROM apps"); n != "1" {
				t.Errorf("%s apps were made", n)
			}
			w.nothingLeft()
		})
	}
}

// A connection that breaks at any point of a job changes nothing of what comes of it.
func cutAtEachPoint(t *testing.T, m *nodetest.Machine) {
	for _, point := range []string{"prepared", "taken", "started", "ended", "found", "cleaned"} {
		w := newWorld(t, m, good)
		at := w.gate(w.first, point)
		id := w.ask()
		<-at.reached
		m.SSH.CloseConnections()
		close(at.goOn)
		w.ended(id, job.Succeeded)
		if out := m.Run("cat /root/counted"); out != "run" || w.created() != 1 {
			t.Errorf("%s: it ran as often as this: %q, and %d containers were made", point, out, w.created())
		}
		w.nothingLeft()
	}
}

// Two jobs of two instances run on one machine one after the other.
func twoAtOnce(t *testing.T, m *nodetest.Machine) {
	w := newWorld(t, m, `mkdir /root/alone || exit 3; sleep 0.3; rmdir /root/alone
n=$(ls /var/lib/ct | wc -l); pct create "20$n" "$NAME" "$TAGS"; pct start "20$n"; echo all done`)
	w.instance()
	first := w.ask()
	second := w.ask(func(o *install.Request) { o.Name = "other" })
	w.ended(first, job.Succeeded)
	w.ended(second, job.Succeeded)
	both := w.Value(fmt.Sprintf("SELECT count(*) FROM job_events WHERE job_id IN (%d, %d) AND text LIKE '%%waiting for it to end'",
		first, second))
	if n := w.Value("SELECT count(*) FROM apps"); n != "2" || both != "1" {
		t.Errorf("%s apps were made, and %s jobs have waited", n, both)
	}
	w.nothingLeft()
}

// A run that somebody takes away from the machine is not started again.
func goneRun(t *testing.T, m *nodetest.Machine) {
	w := newWorld(t, m, `echo on; echo run >>/root/counted; sleep 1000`)
	id := w.ask()
	// Or it would be taken for a run on a machine that is another one now.
	followed(t, w)
	// Before its end is written there.
	m.Run("mkdir /root/away && mv /var/lib/hostler/runs/* /root/away/")
	// For the program runs on.
	w.ended(id, job.Unknown, "no longer exists on the machine", "left on the machine")
	m.Run("systemctl kill -s KILL 'hostler-run-*'; systemctl stop 'hostler-run-*'; " +
		"rm -rf /root/away /run/hostler-runs/* /var/lib/hostler/bundles/*")
	if out := m.Run("cat /root/counted"); out != "run" {
		t.Errorf("it ran as often as this: %q", out)
	}
	w.nothingLeft()
}

// followed waits until the script's "on" is in the transcript.
func followed(t *testing.T, w *world) {
	t.Helper()
	waittest.Until(t, "the script is followed", func() bool {
		return w.Value("SELECT count(*) FROM job_events WHERE kind = 'log' AND text = 'on'") == "1"
	})
}

// A machine that goes down, and all connections to it with it, before the scripts are started or after they have ended changes nothing.
func downAtEachPoint(t *testing.T, m *nodetest.Machine) {
	for _, point := range []string{"ended", "prepared"} {
		t.Run(point, func(t *testing.T) {
			w := newWorld(t, m, good)
			at := w.gate(w.first, point)
			id := w.ask()
			<-at.reached
			m.PowerOff()
			m.Boot()
			close(at.goOn)
			w.ended(id, job.Succeeded)
			if out := m.Run("cat /root/counted"); out != "run" || w.created() != 1 {
				t.Errorf("it ran as often as this: %q, and %d containers were made", out, w.created())
			}
			w.nothingLeft()
		})
	}
}

// A machine that goes down in the middle takes the scripts with it: that is told, and nothing runs again.
func rebooted(t *testing.T, m *nodetest.Machine) {
	w := newWorld(t, m, `pct create 105 "$NAME" "$TAGS"; pct start 105; echo run >>/root/counted; echo on; sleep 1000`)
	id := w.ask()
	followed(t, w)
	m.PowerOff()
	m.Boot()
	m.SSH.CloseConnections() // what was connected before ends, as it does where the server goes down with its machine
	w.ended(id, job.Failed, "the machine went down while the scripts were running", "the container 105 (my-wiki)")
	if out := m.Run("cat /root/counted"); out != "run" || w.created() != 1 {
		t.Errorf("it ran as often as this: %q", out)
	}
	w.nothingLeft()
}
