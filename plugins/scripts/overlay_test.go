package scripts_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/scripts/scriptstest"
)

// node is a folder that stands for a node: a bundle, programs that write down how they were called, and a folder of the run. A container
// is
// the same machine with another folder for its bundle, so that what is pushed is really unpacked.
type node struct {
	t                                    *testing.T
	bundle, programs, run, calls, inside string
}

// newNode unpacks a bundle as the service does.
func newNode(t *testing.T) node {
	t.Helper()
	server := scriptstest.NewServer(t)
	c := open(t, server.Config())
	pin := pinOf(server.Push(scriptstest.Small()))
	dir := t.TempDir()
	n := node{t, filepath.Join(dir, "bundles", "place"), filepath.Join(dir, "programs"), filepath.Join(dir, "run"), filepath.Join(dir,
		"calls"),
		filepath.Join(dir, "inside")}
	m, contents, err := bundle(t, c, "first", pin)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range m.Files {
		mode := os.FileMode(0o644)
		if f.Executable {
			mode = 0o755
		}
		n.write(filepath.Join(n.bundle, f.Path), contents[f.Path], mode)
	}
	if err := os.MkdirAll(n.run, 0o700); err != nil {
		t.Fatal(err)
	}
	record := "#!/bin/sh\nprintf '%s' \"$(basename \"$0\")\" >>" + n.calls + "\nfor a; do printf ' [%s]' \"$a\" >>" + n.calls +
		"; done\necho >>" + n.calls + "\n"
	for _, name := range []string{"curl", "wget"} {
		n.write(filepath.Join(n.programs, name), record, 0o755)
	}
	// pct exec ID -- PROGRAM …: the container sees its own folder where the node has the bundle.
	n.write(filepath.Join(n.programs, "pct"), `#!/bin/sh
[ "$1" = exec ] || exit 9
shift 3
if [ -n "${PCT_FAILS:-}" ]; then exit 7; fi
i=0 n=$#
while [ $i -lt $n ]; do
	a=$1
	shift
	case $a in
	`+n.bundle+`) a=`+n.inside+` ;;
	esac
	set -- "$@" "$a"
	i=$((i + 1))
done
"$@"
status=$?
if [ -n "${PCT_CHANGES:-}" ] && [ -f `+n.inside+`/ct/first.sh ]; then echo changed >>`+n.inside+`/ct/first.sh; fi
exit $status
`, 0o755)
	n.write(filepath.Join(n.programs, "lxc-attach"),
		record+"cat >"+n.calls+".input\nif [ -n \"${ATTACH_ASKS:-}\" ]; then echo 'asked inside' >>\"$HOSTLER_RUN/asked\"; fi\nexit 42\n", 0o755)
	return n
}

func (n node) write(name, content string, mode os.FileMode) {
	n.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		n.t.Fatal(err)
	}
}

// sh runs a line as a script of the bundle would, and gives its exit status and output.
func (n node) sh(shell, line, input string, env ...string) (int, string) {
	n.t.Helper()
	cmd := exec.CommandContext(n.t.Context(), shell, "-c", line)
	cmd.Env = append(env, "PATH="+filepath.Join(n.bundle, "overlay")+":"+n.programs+":"+os.Getenv("PATH"), "HOSTLER_RUN="+n.run)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		n.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// asked is what stands in the sentinel; it is taken away.
func (n node) asked() string {
	raw, _ := os.ReadFile(filepath.Join(n.run, "asked"))
	_ = os.Remove(filepath.Join(n.run, "asked"))
	return string(raw)
}

func (n node) called() string {
	raw, _ := os.ReadFile(n.calls)
	_ = os.Remove(n.calls)
	return string(raw)
}

// Every shell that runs the overlay is tried: the node's and those of containers.
func shells(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, name := range []string{"sh", "bash", "dash"} {
		if path, err := exec.LookPath(name); err == nil {
			list = append(list, path)
		}
	}
	return list
}

func TestOverlayDialogs(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	for _, shell := range shells(t) {
		for _, d := range []struct{ line, asked string }{
			{`whiptail --backtitle "Scripts" --title "Storage" --menu "Which one?" 10 60 2 a b c d`, "whiptail menu: Storage: Which one?\n"},
			{`whiptail --yesno "Go on; rm -rf /? $(id)"  10 60`, "whiptail yesno: Go on; rm -rf /? "},
			{`dialog --inputbox 'Your "name"' 8 40`, "dialog inputbox: Your \"name\"\n"},
			{`whiptail`, "whiptail dialog: something\n"},
		} {
			status, _ := n.sh(shell, d.line, "")
			if got := n.asked(); status != 1 || !strings.HasPrefix(got, d.asked) {
				t.Errorf("%s: %d, %q", d.line, status, got)
			}
		}
		for _, line := range []string{"clear", "whiptail --version", "whiptail --infobox Wait 8 40", "echo 50 | whiptail --gauge Wait 8 40 0"} {
			if status, out := n.sh(shell, line, ""); status != 0 || n.asked() != "" {
				t.Errorf("%s: %d, %s", line, status, out)
			}
		}
	}
	// Without a folder of the run a dialog fails all the same.
	if status, _ := n.sh("sh", `HOSTLER_RUN=/proc/nowhere whiptail --yesno x 1 1`, ""); status == 0 {
		t.Error("a dialog says yes")
	}
}

func TestOverlayFetches(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many shells: make check runs it")
	}
	t.Parallel()
	n := newNode(t)
	list := filepath.Join(n.run, "addresses")
	n.write(list, "url = \"https://raw.githubusercontent.com/community-scripts/ProxmoxVE/main/x\"", 0o600)
	for _, shell := range shells(t) {
		for _, line := range []string{
			"curl -fsSL https://raw.githubusercontent.com/community-scripts/ProxmoxVE/main/misc/build.func",
			"curl -fsSL https://RAW.githubusercontent.com/Community-Scripts/ProxmoxVED/dev/x.sh",
			"curl raw.githubusercontent.com/community-scripts/core/main/x",
			"wget -qO- https://github.com/community-scripts/ProxmoxVE/raw/main/x.sh",
			"wget https://codeload.github.com/community-scripts/ProxmoxVE/tar.gz/main", "curl https://git.community-scripts.org/any/thing",
			"curl https://api.github.com/repos/community-scripts/ProxmoxVE/contents/x", "curl -K " + list, "wget --input-file=" + list,
			"echo url | curl -K -", "curl -K" + list, "wget -i " + list,
		} {
			status, out := n.sh(shell, line, "")
			if got := n.asked(); status == 0 || n.called() != "" || !strings.Contains(got, "tried to") {
				t.Errorf("%s: %d, %q, %s", line, status, got, out)
			}
		}
		for line, called := range map[string]string{
			"curl -fsSL https://vendor.example/x":                       "curl [-fsSL] [https://vendor.example/x]\n",
			`wget -O "a b" 'https://vendor.example/x?$(id)'`:            "wget [-O] [a b] [https://vendor.example/x?$(id)]\n",
			"curl -fsSL file://" + n.bundle + "/misc/core.func":         "curl [-fsSL] [file://" + n.bundle + "/misc/core.func]\n",
			"curl https://github.com/community-scripts/ProxmoxVE-Local": "curl [https://github.com/community-scripts/ProxmoxVE-Local]\n",
		} {
			if status, out := n.sh(shell, line, ""); status != 0 || n.called() != called || n.asked() != "" {
				t.Errorf("%s: %d, %s", line, status, out)
			}
		}
		// What a script asks besides, and can do without, fails quietly.
		if status, _ := n.sh(shell, "curl -m 3 https://db.community-scripts.org/api/x", ""); status == 0 || n.called() != "" || n.asked() != "" {
			t.Errorf("the database is asked: %d", status)
		}
	}
}

func TestOverlayAttach(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many shells: make check runs it")
	}
	t.Parallel()
	n := newNode(t)
	for _, shell := range shells(t) {
		if err := os.RemoveAll(n.inside); err != nil {
			t.Fatal(err)
		}
		status, out := n.sh(shell, `lxc-attach -n 123 -- bash -c "a 'b'"`, "first answer\nsecond answer\n")
		input, _ := os.ReadFile(n.calls + ".input")
		if got := n.called(); status != 42 || got != "lxc-attach [-n] [123] [--] [bash] [-c] [a 'b']\n" || n.asked() != "" {
			t.Fatalf("%d, %q, %s", status, got, out)
		}
		if string(input) != "first answer\nsecond answer\n" {
			t.Errorf("the program inside reads %q", input)
		}
		for _, name := range []string{"ct/first.sh", "overlay/curl", "overlay-data/common.sh"} {
			want, err := os.ReadFile(filepath.Join(n.bundle, name))
			got, err2 := os.ReadFile(filepath.Join(n.inside, name))
			if err != nil || err2 != nil || string(got) != string(want) {
				t.Errorf("%s did not arrive: %v, %v", name, err, err2)
			}
		}
		// What was changed inside is replaced before anything runs.
		n.write(filepath.Join(n.inside, "overlay/curl"), "#!/bin/sh\nevil\n", 0o755)
		n.write(filepath.Join(n.inside, "one-more"), "x", 0o644)
		if status, out := n.sh(shell, "lxc-attach --name=123 -- true", ""); status != 42 {
			t.Errorf("%d, %s", status, out)
		}
		if got, err := os.ReadFile(filepath.Join(n.inside, "overlay/curl")); err != nil || strings.Contains(string(got), "evil") {
			t.Errorf("it still has %q, %v", got, err)
		}
		if _, err := os.Stat(filepath.Join(n.inside, "one-more")); err == nil {
			t.Error("what does not belong there is still there")
		}
		n.called()
		for name, env := range map[string]string{"it changes on the way": "PCT_CHANGES=1", "nothing can be run inside": "PCT_FAILS=1"} {
			_ = os.RemoveAll(n.inside)
			status, out := n.sh(shell, "lxc-attach -n 123 -- true", "", env)
			if got := n.asked(); status != 1 || n.called() != "" || !strings.Contains(got, "bundle") {
				t.Errorf("%s: %d, %q, %s", name, status, got, out)
			}
		}
		_ = os.RemoveAll(n.inside)
		if status, _ := n.sh(shell, "lxc-attach -n 123 -- true", "", "ATTACH_ASKS=1"); status != 42 || n.asked() != "asked inside\n" {
			t.Errorf("what was asked inside is lost: %d", status)
		}
		for _, line := range []string{"lxc-attach -- true", "lxc-attach -n '1;id' -- true", "lxc-attach -n ../1 -- true"} {
			if status, _ := n.sh(shell, line, ""); status != 1 || n.asked() == "" {
				t.Errorf("%s is run", line)
			}
		}
		n.called()
	}
}
