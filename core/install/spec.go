package install

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/hostler/hostler/core/nodeunit"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// launcher is the shell script with which a run begins. Its working directory
// has the files of the run, whose checksums the unit has just verified. It
// moves the bundle to the path where its files expect each other, copies
// prepared files to where they do not exist yet, and runs the program.
//
// $1 is the name of the bundle's folder, $2 the interpreter, $3 the program, $4
// the folders to put first in PATH, $5 the number of prepared files. The paths
// of these files follow, and then the arguments of the program. It exits with
// 126 if the folder of bundles does not belong to root or others can write to
// it.
const launcher = `set -eu; umask 022
bundles=/var/lib/hostler/bundles
[ -e "$bundles" ] || mkdir -m 755 "$bundles"
[ -d "$bundles" ] && [ ! -L "$bundles" ] || exit 126
case $(stat -c %u:%A "$bundles") in 0:d????-??-?) ;; *) exit 126 ;; esac
place=$bundles/$1; interpreter=$2; program=$3; folders=$4; prepared=$5
shift 5
rm -rf -- "$place"
mv -T bundle "$place"
find "$place" -type d -exec chmod 755 {} +
n=0
while [ "$n" -lt "$prepared" ]; do
	if [ ! -e "$1" ] && [ ! -L "$1" ]; then
		mkdir -p -- "$(dirname -- "$1")"
		cp -- "prepare/$n" "$1"
	fi
	n=$((n + 1))
	shift
done
PATH=$folders$PATH; export PATH
cd "$HOME"
exec "$interpreter" -- "$place/$program" "$@"
`

// placeOf returns the folder of a bundle on a machine.
func placeOf(m *sdk.Manifest) string { return sdk.BundleFolder + "/" + m.Place }

// spec returns the run of a bundle. contents are the files by checksum; nil if
// the files are on the machine already.
func (p *params) spec(m *sdk.Manifest, contents map[string][]byte) nodeunit.Spec {
	l := &p.Launch
	folders := ""
	for _, folder := range l.PathFolders {
		folders += path.Join(placeOf(m), folder) + ":"
	}
	s := nodeunit.Spec{Run: p.Mark, Program: "/bin/sh", Limit: l.Limit, Input: []byte(l.Input.Reveal()),
		Arguments: []string{"-c", launcher, "hostler-install", m.Place, l.Interpreter, l.Program, folders, strconv.Itoa(len(l.Prepare))}}
	for i, f := range l.Prepare {
		s.Arguments = append(s.Arguments, f.Path)
		s.Files = append(s.Files, nodeunit.Bytes(fmt.Sprintf("prepare/%d", i), 0o644, []byte(f.Content)))
	}
	s.Arguments = append(s.Arguments, l.Arguments...)
	for _, v := range l.Environment {
		s.Environment = append(s.Environment, hypervisor.NodeVariable{Name: v.Name, Value: plugin.Secret(v.value())})
	}
	s.Environment = append(s.Environment, hypervisor.NodeVariable{Name: sdk.RunFolderVariable,
		Value: plugin.Secret(nodeunit.FolderOf(s.Run))})
	for _, f := range m.Files {
		mode := uint32(0o644)
		if f.Executable {
			mode = 0o755
		}
		s.Files = append(s.Files, nodeunit.File{Name: "bundle/" + f.Path, Mode: mode, Size: f.Size, SHA256: f.Sum,
			Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(contents[f.Sum])), nil }})
	}
	return s
}

// secrets returns the texts to remove from transcript and errors.
func (p *params) secrets() (all []string) {
	for _, s := range p.Secrets {
		all = append(all, s.Reveal())
	}
	for _, v := range p.Launch.Environment {
		if v.Hidden {
			all = append(all, v.value())
		}
	}
	for line := range strings.Lines(p.Launch.Input.Reveal()) {
		if line = strings.TrimSpace(line); len(line) >= leastSecret {
			all = append(all, line)
		}
	}
	return all
}

// leastSecret is the minimum length in bytes of an answer that is removed from
// the transcript. Shorter ones, such as "y", would make it unreadable.
const leastSecret = 6
