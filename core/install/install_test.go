package install_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/install"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/internal/nodetest"
)

// good is a script that makes a container and says so.
const good = `set -e
. "$(dirname "$0")/lib/more.sh"
printf 'Storage space validated\n\033[32mmaking it\033[0m\r\033[K'
more
pct create "${CONTAINER:-105}" "$NAME" "$TAGS"
pct start "${CONTAINER:-105}"
echo "token is ${SET_github_token:-none}, cores are ${SET_cpu:-none}"
echo run >>/root/counted
echo "all done"
echo "http://192.0.2.5:8080/start"
`

// All tests of this function share one machine, one after the other.
func TestInstall(t *testing.T) {
	t.Parallel()
	m := nodetest.Start(t)
	for _, s := range []struct {
		name string
		test func(*testing.T, *nodetest.Machine)
	}{
		{"success", success}, {"failures", failures}, {"bytes", changedBytes}, {"values", hostileValues}, {"cancel", canceled},
		{"cut", cutConnections}, {"cut at each point", cutAtEachPoint}, {"killed", killed},
		{"two", twoAtOnce}, {"gone", goneRun}, {"community", community}, {"reboot", rebooted},
		{"down", downAtEachPoint},
	} {
		t.Run(s.name, func(t *testing.T) { s.test(t, m) })
	}
}

func success(t *testing.T, m *nodetest.Machine) {
	w := newWorld(t, m, good)
	id := w.ask(func(o *install.Request) {
		o.Overrides = map[string]string{"cpu": "2", "github_token": "canary-of-a-token"}
		o.CTID = new(int64(777))
	})
	text := w.ended(id, job.Succeeded, "log: more", "log: token is [secret], cores are 2", "container 777 (my-wiki)")
	if strings.Contains(text, "canary") || strings.Contains(text, "\x1b") {
		t.Errorf("the transcript has %s", text)
	}
	got := w.Value(`SELECT a.name || ' ' || a.slug || ' ' || a.guest_ref || ' ' || a.printed_url || ' ' || (a.guest_id IS NOT NULL) || ' ' ||
		i.source || ' ' || i.overrides::text || ' ' || (i.environment->'SET_github_token')::text || ' ' || i.version_file || ' ' ||
		i.installed_email || ' ' || (i.bundle = j.params->>'sum') || ' ' || j.target_kind || ':' || (j.target_id = a.id)
		FROM apps a JOIN app_installs i ON i.app_id = a.id JOIN jobs j ON j.id = i.job_id`)
	if want := `my-wiki wiki 777 http://192.0.2.5:8080/start true scripts {"cpu": "2", "github_token": null} null /root/.version ` +
		`ada@example.com true app:true`; got != want {
		t.Errorf("kept is %s\nwant %s", got, want)
	}
	if all := w.Value("SELECT string_agg(j::text, '') || (SELECT string_agg(a::text, '') FROM audit a) FROM jobs j"); strings.Contains(all,
		"canary") {
		t.Error("the token is readable in the database")
	}
	if n := w.created(); n != 1 {
		t.Errorf("%d containers were made", n)
	}
	w.nothingLeft()
	if kept := w.Value("SELECT count(*) FROM consents WHERE actor_id = 7 AND purpose = 'install'"); kept != "1" {
		t.Errorf("%s consents are kept", kept)
	}
}

// Whatever is missing of the evidence, the job fails, says why and what remains, and no app is made.
func failures(t *testing.T, m *nodetest.Machine) {
	made := `pct create 105 "$NAME" "$TAGS"; pct start 105; `
	for name, s := range map[string]struct {
		script string
		texts  []string
	}{
		"status 0 and no container": {"echo all done", []string{"no container with the tag hostler-job-"}},
		"no word of the end": {made + "exit 0", []string{"did not report that they were done", "the container 105 (my-wiki)",
			"DELETE /api/v1/catalog/installs/"}},
		"a status of the table": {made + "exit 3", []string{"status 3: The script says that it failed", "is kept for inspection"}},
		"another status":        {made + "echo all done; exit 77", []string{"status 77;"}},
		"a question": {`echo "whiptail yesno: Really?" >"$HOSTLER_RUN/asked"; ` + made + "echo all done",
			[]string{"asked a question that nobody can answer", "Really?"}},
		"a container that is stopped": {made + "pct stop 105; echo all done", []string{"the container is not running"}},
		"two containers": {made + `pct create 106 x "$TAGS"; pct start 106; echo all done`,
			[]string{"more than one container", "106 (x)"}},
		"a number on the screen only": {"pct create 105 x other-tag; pct start 105; echo CT 105; echo all done",
			[]string{"no container with the tag"}},
		"a signal": {made + "kill -9 $$", []string{"killed by the signal KILL"}},
		"a read":   {made + "read -r answer || exit 9; echo all done", []string{"status 9"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, m, s.script)
			id := w.ask()
			text := w.ended(id, job.Failed, s.texts...)
			if n := w.Value("SELECT count(*) FROM apps"); n != "0" {
				t.Errorf("%s apps were made", n)
			}
			if strings.Contains(s.script, "pct create 105 \"$NAME\"") && !w.tagged("105") {
				t.Errorf("the container is not tagged as failed: %s", text)
			}
			w.nothingLeft()
		})
	}
	t.Run("time limit and what was forked", func(t *testing.T) {
		w := newWorld(t, m, `sleep 300 & echo on; wait`)
		w.first.Queue.Suspend()
		id := w.ask()
		w.Exec(fmt.Sprintf("UPDATE jobs SET params = jsonb_set(params, '{launch,limit}', '1000000000') WHERE id = %d", id))
		w.first.Queue.Unsuspend()
		w.ended(id, job.Failed, "did not end within")
		w.nothingLeft()
		if out, _ := m.Try(t.Context(), "pgrep -x sleep"); strings.TrimSpace(out) != "" {
			t.Errorf("processes remain: %s", out)
		}
	})
}
