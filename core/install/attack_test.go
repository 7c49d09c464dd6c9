package install_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/install"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/internal/nodetest"
	"github.com/hostler/hostler/internal/waittest"
	sdk "github.com/hostler/hostler/sdk/catalog"
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
		id := w.ask(func(o *install.Request) { o.Sum = &seen })
		w.ended(id, job.Succeeded)
		if got := w.Value("SELECT bundle FROM app_installs"); got != seen {
			t.Errorf("installed was %s", got)
		}
		// And a consent for one is none for another.
		if _, err := w.first.Installs.Install(w.ctx, 1, install.Request{Path: "wiki", HostID: 1, Name: "x",
			Consent: true}); problem.CodeOf(err) !=
			problem.CodeConsentRequired {
			t.Errorf("the new one without its sum: %v", err)
		}
		other := "0" + seen[1:]
		if seen[0] == '0' {
			other = "1" + seen[1:]
		}
		if _, err := w.first.Installs.Install(w.ctx, 1, order(other)); problem.CodeOf(err) != problem.CodeInvalidState {
			t.Errorf("a sum that nothing has: %v", err)
		}
	})
	for _, file := range []string{"install.sh", "lib/more.sh", "overlay/clear"} {
		t.Run("in the store, "+file, func(t *testing.T) {
			w := newWorld(t, m, good)
			w.sum()
			w.Exec(fmt.Sprintf(`UPDATE bundle_files SET data = overlay(data PLACING '\x07'::bytea FROM 1) WHERE sum IN (SELECT f->>'Sum'
				FROM bundle_manifests, json_array_elements(manifest->'Files') f WHERE f->>'Path' = '%s')`, file))
			w.ended(w.ask(), job.Failed, "is not the one that was agreed to; nothing was run")
			w.unrun()
		})
		t.Run("on the node, "+file, func(t *testing.T) {
			w := newWorld(t, m, good)
			at := w.gate(w.first, "prepared")
			id := w.ask()
			<-at.reached
			m.Run(`f=$(ls /var/lib/hostler/runs/*/files/bundle/` + file + `); printf '\007' | dd of="$f" conv=notrunc bs=1 status=none`)
			close(at.goOn)
			w.ended(id, job.Failed, "nothing was run")
			w.unrun()
		})
	}
	t.Run("what was there before", func(t *testing.T) {
		w := newWorld(t, m, good)
		m.Run("mkdir -p /var/lib/hostler/bundles/" + strings.Repeat("0", 64) + "; echo 'exit 9' >/root/lib")
		w.ended(w.ask(), job.Succeeded)
		m.Run("rm -r /var/lib/hostler/bundles/" + strings.Repeat("0", 64))
	})
}

// Whatever is in a value that somebody sets, the scripts get it as it is, in a variable or a line of their input, and no shell reads it.
func hostileValues(t *testing.T, m *nodetest.Machine) {
	const note = "'\"; touch /root/pwned #\n$(touch /root/pwned) `touch /root/pwned`" +
		" ${HOME} %s \\n\t*?[a] & | > /root/pwned é\u202e\U0001f600 -n"
	const line = "\"$(touch /root/pwned)\" 'x' `y` \\ é"
	w := newWorld(t, m, `printf '%s' "$SET_note" >/root/note; IFS= read -r answer; printf '%s' "$answer" >/root/answer
`+good, func(e *sdk.Entry) {
		e.Overrides = append(e.Overrides, sdk.Option{Key: "note", Type: sdk.Text, Description: "A note."})
		e.Prompts = 1
	})
	id := w.ask(func(o *install.Request) { o.Overrides, o.Answers = map[string]string{"note": note}, []string{line} })
	w.ended(id, job.Succeeded)
	for file, want := range map[string]string{"note": note, "answer": line} {
		if got := m.Run("base64 -w0 /root/" + file); got != base64.StdEncoding.EncodeToString([]byte(want)) {
			t.Errorf("%s arrived as %s", file, got)
		}
	}
	if out := m.Run("ls /root/pwned 2>/dev/null || true"); out != "" {
		t.Error("a value was run")
	}
	for _, o := range []install.Request{
		{Overrides: map[string]string{"note": "a\x00b"}}, {Overrides: map[string]string{"cpu": "2; reboot"}},
		{Overrides: map[string]string{"LD_PRELOAD": "/tmp/x.so"}}, {Overrides: map[string]string{"var_post_install": "/tmp/x"}},
		{Answers: []string{"a\nb"}}, {Answers: []string{"a\x00b"}}, {Name: "$(reboot)"}, {Name: "-rf"}, {Name: "a b"},
		{Storage: new("local; reboot")}, {Bridge: new("br0\n")},
	} {
		bad := order(w.sum())
		bad.Overrides, bad.Answers, bad.Storage, bad.Bridge = o.Overrides, o.Answers, o.Storage, o.Bridge
		if o.Name != "" {
			bad.Name = o.Name
		}
		if _, err := w.first.Installs.Install(w.auditing(), 1, bad); problem.CodeOf(err) != problem.CodeInvalid {
			t.Errorf("%+v: %v", o, err)
		}
	}
	w.nothingLeft()
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
