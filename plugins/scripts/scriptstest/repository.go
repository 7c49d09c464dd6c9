// Package scriptstest makes repositories of small scripts in the shape of the community's, their archives, and a server that hands them
// out.
package scriptstest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Name is the repository that the scripts load each other from.
const Name = "community-scripts/ProxmoxVE"

// Base is one of the addresses that the scripts name.
const Base = "https://raw.githubusercontent.com/" + Name + "/main"

// Files are the contents of a repository by path.
type Files map[string]string

// Clone copies them.
func (f Files) Clone() Files { return maps.Clone(f) }

// With is a copy with one file changed.
func (f Files) With(path, content string) Files {
	out := f.Clone()
	out[path] = content
	return out
}

// App adds the two scripts of an app. Header are further lines of its head, such as var_gpu.
func (f Files) App(slug, name, header, install string) {
	f["ct/"+slug+".sh"] = fmt.Sprintf(`#!/usr/bin/env bash
source <(curl -fsSL %[1]s/misc/build.func)
# Author: somebody | another
# License: MIT | https://github.com/%[2]s/raw/main/LICENSE
# Source: https://example.org/%[3]s

APP="%[4]s"
var_tags="${var_tags:-test;small}"
var_cpu="${var_cpu:-1}"
var_ram="${var_ram:-512}"
var_disk="${var_disk:-2}"
var_os="${var_os:-debian}"
var_version="${var_version:-13}"
var_unprivileged="${var_unprivileged:-1}"
%[5]s
header_info "$APP"

function update_script() {
  check_for_gh_release "%[3]s" "example/%[3]s"
  exit
}

start
build_container
description

msg_ok "Completed successfully!\n"
echo -e "${GATEWAY}${BGN}http://${IP}:8080/start${CL}"
`, Base, Name, slug, name, header)
	f["install/"+slug+"-install.sh"] = "#!/usr/bin/env bash\nsource /dev/stdin <<<\"$FUNCTIONS_FILE_PATH\"\n" + install + "\n"
}

// Small is a repository with a few entries of each kind.
func Small() Files {
	f := Files{
		"LICENSE": "MIT License\n", "README.md": "nothing that is needed\n",
		"misc/build.func": "curl_url=" + Base + "/misc/core.func\n" +
			"mirror=${COMMUNITY_SCRIPTS_URL:-https://git.community-scripts.org/" + Name + "/raw/branch/main}\n" +
			"old=https://raw.githubusercontent.com/" + Name + "/refs/heads/main/misc/tools.func\n" +
			"logo=" + Base + "/misc/images/logo.png\n" +
			"asked='https://db.community-scripts.org/api/collections/script_scripts'\n" +
			"# a comment may name " + Base + "-old or https://github.com/" + Name + "VED/raw/main/x.sh\n",
		"misc/core.func": "msg_ok() { echo \"$1\"; }\n", "misc/tools.func": "true\n", "misc/install.func": "true\n",
		"misc/images/logo.png": "not a picture\n",
		"tools/addon/moved.sh": "#!/usr/bin/env bash\n# Source: https://example.org/moved\nAPP=\"Moved\"\n",
		"tools/addon/files.sh": "#!/usr/bin/env bash\nAPP=\"Files\"\n",
		"tools/pve/clean.sh":   "#!/usr/bin/env bash\n# License: MIT\n",
		"vm/machine.sh":        "#!/usr/bin/env bash\n", "turnkey/turnkey.sh": "#!/usr/bin/env bash\nAPP=\"TurnKey\"\n",
		"ct/headers/first": "FIRST\n",
	}
	f.App("first", "First", "", "msg_info \"Installing\"\nfetch_and_deploy_gh_release \"first\" \"example/first\"\n"+
		"curl -fsSL https://vendor.example/setup | bash")
	f.App("second", "Second", "var_unprivileged=\"${var_unprivileged:-0}\"\nvar_gpu=\"${var_gpu:-yes}\"", "apt install -y second")
	f["ct/second.sh"] = strings.Replace(f["ct/second.sh"], "var_unprivileged=\"${var_unprivileged:-1}\"\n", "", 1)
	f.App("alpine-second", "Alpine-Second", "", "apk add second")
	f.App("asks", "Asks", "", "read -r -p \"${TAB3}Do you want to continue? [y/N]: \" CONFIRM\nread -rp \"Name: \" name\n# read -p no\n")
	f.App("moved", "Moved", "", "")
	delete(f, "install/moved-install.sh")
	f.App("old-name", "First", "", "")
	delete(f, "install/old-name-install.sh")
	return f
}

// Many is a repository with n apps.
func Many(n int) Files {
	f := Small()
	for i := range n - 11 {
		f.App(fmt.Sprintf("app-%04d", i), fmt.Sprintf("App %d", i), "", strings.Repeat("msg_ok \"a line of an install script\"\n", 40))
	}
	return f
}

// Commit is the name of the state that the files make: 40 digits, as git gives them.
func (f Files) Commit() string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(f)) {
		_, _ = fmt.Fprintf(h, "%q %q\n", path, f[path])
	}
	return hex.EncodeToString(h.Sum(nil))[:40]
}

// Archive is the files as the hosts of repositories pack them.
func (f Files) Archive(t testing.TB) []byte {
	t.Helper()
	commit := f.Commit()
	members := []tar.Header{{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header",
		PAXRecords: map[string]string{"comment": commit}},
		{Typeflag: tar.TypeDir, Name: "repository-" + commit + "/", Mode: 0o755}}
	var contents []string
	for _, path := range slices.Sorted(maps.Keys(f)) {
		mode := int64(0o644)
		if strings.HasSuffix(path, ".sh") {
			mode = 0o755
		}
		members = append(members, tar.Header{Typeflag: tar.TypeReg, Name: "repository-" + commit + "/" + path, Mode: mode,
			Size: int64(len(f[path]))})
		contents = append(contents, f[path])
	}
	return Pack(t, members, append([]string{"", ""}, contents...))
}

// Pack makes an archive of members as they are, also of such that no honest program makes.
func Pack(t testing.TB, members []tar.Header, contents []string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for i := range members {
		if err := archive.WriteHeader(&members[i]); err != nil {
			t.Fatal(err)
		}
		if members[i].Typeflag == tar.TypeReg {
			if _, err := archive.Write([]byte(contents[i])); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
