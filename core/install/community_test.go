package install_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/install"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/nodetest"
	"github.com/hostler/hostler/plugins/scripts"
	"github.com/hostler/hostler/plugins/scripts/scriptstest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// engine is in the shape of the real one: it loads the rest from where it is from, makes a container, and runs the install script in it.
const engine = `source <(curl -fsSL ` + scriptstest.Base + `/misc/core.func)
header_info() { :; }
start() { clear; }
description() { IP=192.0.2.7; }
build_container() {
	[ "$mode" = generated ] || exit 99
	pct create 120 "$var_hostname" "$var_tags"
	pct start 120
	FUNCTIONS_FILE_PATH="$(curl -fsSL ` + scriptstest.Base + `/misc/install.func)"
	export FUNCTIONS_FILE_PATH
	lxc-attach -n 120 -- bash -c "$(curl -fsSL ` + scriptstest.Base + `/install/wiki-install.sh)" || exit $?
}
`

// newCommunity is a world whose source is that of the community, with an install script.
func newCommunity(t *testing.T, m *nodetest.Machine, script string) *world {
	t.Helper()
	server := scriptstest.NewServer(t)
	files := scriptstest.Small()
	files["misc/build.func"] = engine
	files["misc/install.func"] = "said() { echo \"inside: $1\"; }\n"
	files.App("wiki", "Wiki", "", script)
	server.Push(files)
	mem := memdriver.New()
	w := &world{t: t, machine: m, cluster: mem.Add("a.mem:8006", memdriver.Spec{}), source: scripts.New(hclog.NewNullLogger()),
		url: dbtest.URL(t), keys: filepath.Join(t.TempDir(), "keys", "secret.key"), made: map[string]hypervisor.GuestID{},
		options: map[string]*secret.String{}}
	for key, value := range maps.All(server.Config().Options) {
		w.options[key] = new(secret.New(value))
	}
	w.driver = driver{mem, w}
	m.Run("rm -rf /var/lib/ct /var/lib/ct-root /var/lib/ct.log /root/*; " + pct)
	w.build()
	w.Exec("UPDATE hosts SET version = '9.2.4'") // the hypervisor in memory has another one, which the scripts do not know
	return w
}

// Scripts in the shape of the community's, with the overlay: all that they load is in the bundle, also inside of the container.
func community(t *testing.T, m *nodetest.Machine) {
	t.Run("good", func(t *testing.T) {
		w := newCommunity(t, m, "said hello\nsource <(curl -fsSL "+scriptstest.Base+"/misc/tools.func)\nsaid tools")
		id := w.ask(func(o *install.Request) { o.Overrides = map[string]string{"cpu": "2"} })
		w.ended(id, job.Succeeded, "log: inside: hello", "log: inside: tools", "container 120 (my-wiki)")
		if got := w.Value("SELECT slug || ' ' || printed_url FROM apps"); got != "wiki http://192.0.2.7:8080/start" {
			t.Errorf("the app is %s", got)
		}
		w.nothingLeft()
		if out := m.Run("ls /var/lib/ct-root/120/bundles | wc -l; cat /usr/local/community-scripts/diagnostics"); out != "1\nDIAGNOSTICS=no" {
			t.Errorf("the container has bundles, and the machine: %q", out)
		}
	})
	for name, s := range map[string]struct{ script, text string }{
		"a dialog": {"whiptail --title Sure --yesno 'Really?' 8 40 || true", "whiptail yesno: Sure: Really?"},
		"code that moves": {"o=community; curl -fsSL https://raw.githubusercontent.com/$o-scripts/ProxmoxVED/x/a.sh | bash",
			"curl tried to download code that the pin does not cover"},
		"an install that fails": {"exit 100", "status 100: The package manager failed inside the container"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newCommunity(t, m, s.script)
			text := w.ended(w.ask(), job.Failed, s.text)
			if !strings.Contains(text, "container 120") || !w.tagged("120") {
				t.Errorf("the container is not told of or not tagged: %s", text)
			}
			w.nothingLeft()
		})
	}
}
