package processtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/scripts/scriptstest"
)

// appEngine is what all scripts of the repository load, in the shape of the community's.
const appEngine = `source <(curl -fsSL ` + scriptstest.Base + `/misc/core.func)
header_info() { :; }
start() { clear; [ -d /etc/pve ] || { update_script; exit; }; }
description() { IP=192.0.2.7; }
check_for_gh_release() { echo "looking for a release of $1"; }
build_container() {
	[ "$mode" = generated ] || exit 99
	pct create 120 "$var_hostname" "$var_tags"
	pct start 120
	FUNCTIONS_FILE_PATH="$(curl -fsSL ` + scriptstest.Base + `/misc/install.func)"
	export FUNCTIONS_FILE_PATH
	lxc-attach -n 120 -- bash -c "$(curl -fsSL ` + scriptstest.Base + `/install/wiki-install.sh)" || exit $?
}
`

// appInstall is what runs in the new container. It waits until the test lets it go on.
const appInstall = `mkdir -p /root/www; cd /root
until [ -e /root/go ]; do sleep 0.05; done
echo run >>/root/installs
echo 1.0 >.wiki; echo one >www/index.html
cat >start <<'END'
[ ! -s /root/pid ] || kill "$(cat /root/pid)" 2>/dev/null
setsid sh -c 'echo $$ >/root/pid; exec python3 -m http.server 8080 --directory /root/www' >/dev/null 2>&1 </dev/null &
END
sh start
until curl -s --max-time 2 http://127.0.0.1:8080/ >/dev/null; do sleep 0.1; done
`

// What the update does at the second state of the repository, which breaks the app and fails, and at the third.
const (
	breakingUpdate = `echo 2.0 >/root/.wiki; echo two >/root/www/index.html; kill "$(cat /root/pid)"; exit 150`
	workingUpdate  = `echo run >>/root/updates; until [ -e /root/go-on ]; do sleep 0.05; done
	echo 3.0 >/root/.wiki; echo three >/root/www/index.html; sh /root/start`
)

// wikiFiles is the repository with an update.
func wikiFiles(update string) scriptstest.Files {
	files := scriptstest.Small()
	files["misc/build.func"] = appEngine
	files["misc/install.func"] = "said() { echo \"inside: $1\"; }\n"
	files.App("wiki", "Wiki", "", appInstall)
	files["ct/wiki.sh"] = strings.Replace(files["ct/wiki.sh"], "\n  exit\n", "\n"+update+"\n  exit\n", 1)
	return files
}

// appWay is an app on its way from the catalog to its end.
type appWay struct {
	t       testing.TB
	service *service
	owner   *client
	machine *appMachine
	origin  *scriptstest.Server
	host    int64
	// id and app are the app's, with its path.
	id  int64
	app string
}

// newAppWay is a service with a source that has nothing yet, and a host.
func newAppWay(t testing.TB) *appWay {
	t.Helper()
	w := &appWay{t: t, machine: newAppMachine(t), origin: scriptstest.NewServer(t)}
	plugins := pluginFolder(t, modulePath+"cmd/hostler-plugin-pve", modulePath+"cmd/hostler-plugin-scripts")
	w.service = startService(t, options{Env: []string{"HOSTLER_PLUGIN_DIR=" + plugins}})
	w.owner = setUp(t, w.service)
	w.enrol()
	return w
}

// enrol adds the host with a login at its machine.
func (w *appWay) enrol() {
	t, front := w.t, w.machine.front
	t.Helper()
	body := map[string]any{"name": "lab", "address": front.URL, "tls_fingerprint": front.Fingerprint, "ssh_enroll": true,
		"ssh_consent": true, "ssh_port": w.machine.SSH.Port(),
		"token_id": front.Tokens["monitoring"].ID, "token_secret": front.Tokens["monitoring"].Secret}
	var host struct {
		ID  int64
		SSH sshView
	}
	w.owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/hosts", body, &host)
	w.host = host.ID
	w.machine.SSH.Authorize(host.SSH.Pending.PublicKey)
	path := fmt.Sprintf("/api/v1/hosts/%d", w.host)
	w.owner.must(t, http.StatusOK, http.MethodPost, path+"/ssh/verify", nil, nil)
	w.owner.must(t, http.StatusOK, http.MethodPost, path+"/credentials", map[string]any{"capability": "lifecycle",
		"token_id": front.Tokens["lifecycle"].ID, "token_secret": front.Tokens["lifecycle"].Secret}, nil)
	w.owner.must(t, http.StatusOK, http.MethodPost, path+"/sync", nil, nil)
}

// catalog switches the source on, as an owner who has read whom one trusts, and syncs it.
func (w *appWay) catalog() {
	t := w.t
	t.Helper()
	const path = "/api/v1/catalog/sources/scripts"
	var refused struct {
		TrustDigest string `json:"trust_digest"`
	}
	w.owner.must(t, http.StatusConflict, http.MethodPatch, path, map[string]any{"enabled": true}, &refused)
	w.owner.must(t, http.StatusOK, http.MethodPatch, path, map[string]any{"enabled": true, "allow_private": true,
		"trust_digest": refused.TrustDigest, "options": w.origin.Config().Options}, nil)
	w.refresh()
	var all []struct{ Slug string }
	w.owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/catalog?q=wiki&entry_type=ct", nil, &all)
	if len(all) != 1 || all[0].Slug != "wiki" {
		t.Errorf("the catalog has %+v", all)
	}
	a := w.owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/catalog/wiki", nil, nil)
	for _, want := range []string{`"name":"Wiki"`, `"port":8080`, `"installable":true`} {
		if !strings.Contains(string(a.Body), want) {
			t.Errorf("the entry lacks %s: %s", want, a.Body)
		}
	}
}

func (w *appWay) refresh() {
	w.t.Helper()
	w.done(started(w.t, w.owner, "/api/v1/catalog/refresh", nil).ID, "succeeded")
}

// done waits for a job's end while the machine is served, and gives its transcript.
func (w *appWay) done(id int64, status string, texts ...string) string {
	w.t.Helper()
	w.until(fmt.Sprintf("the end of job %d", id), func() bool {
		now := w.job(id).Status
		return now != "" && now != "queued" && now != "running"
	})
	end, text := w.job(id), transcript(w.t, w.owner, id)
	if end.Status != status {
		w.t.Fatalf("job %d ended %s: %s\n%s", id, end.Status, end.Error, text)
	}
	for _, want := range texts {
		if !strings.Contains(end.Error+"\n"+text, want) {
			w.t.Errorf("job %d does not say %q: %s\n%s", id, want, end.Error, text)
		}
	}
	return text
}

// until waits while the machine is served.
func (w *appWay) until(what string, ok func() bool) {
	w.t.Helper()
	waittest.Until(w.t, what, func() bool {
		w.machine.serve()
		return ok()
	})
}

// job is a job as the service tells of it; empty while it does not answer.
func (w *appWay) job(id int64) (j jobView) {
	a, err := w.owner.try(w.t.Context(), http.MethodGet, fmt.Sprintf("/api/v1/jobs/%d", id), nil)
	if err == nil {
		_ = json.Unmarshal(a.Body, &j)
	}
	return j
}
