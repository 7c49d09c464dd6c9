package pvessh

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// How the scripts of copies end.
const (
	// These are the exit codes of the scripts that copy files.
	copyNone   = 10 // the folder, or the file, is not there
	copyKind   = 11 // something else is there
	copySize   = 12
	copyDigest = 13
)

// store is the script that stores a file: $1 is its path, $2 its mode, $3 its
// size and $4 its SHA-256 or "". It writes a temporary file in the same folder,
// checks it, syncs it and renames it, so the path has either the old or the new
// content, also after a power failure. chown sets root as owner and group; a
// folder with the set-group-ID bit would give it another group.
const store = `set -u; umask 077
dir=${1%/*}; [ -n "$dir" ] || dir=/
[ -d "$dir" ] || exit 10
[ ! -d "$1" ] || exit 11
new=$(mktemp -- "$dir/.hostler-XXXXXXXXXX") || exit 1
trap 'rm -f -- "$new"' EXIT
trap 'exit 1' HUP INT TERM
cat >"$new" || exit 1
[ "$(stat -c %s -- "$new")" = "$3" ] || exit 12
sum=$(sha256sum <"$new") || exit 1
sum=${sum%% *}
[ -z "$4" ] || [ "$sum" = "$4" ] || exit 13
[ "$(id -u)" != 0 ] || chown 0:0 -- "$new" || exit 1
chmod -- "$2" "$new" && sync -- "$new" && mv -fT -- "$new" "$1" || exit 1
trap - EXIT
echo "$sum"
`

// fetch is the script that reads a file: $1 is its path and $2 the limit plus
// one. It prints the mode on a line and then the content. The size is checked
// first and head limits the output, because the file can grow meanwhile.
const fetch = `set -u
[ -e "$1" ] || exit 10
[ -f "$1" ] || exit 11
mode=$(stat -L -c %a -- "$1") || exit 1
size=$(stat -L -c %s -- "$1") || exit 1
[ "$size" -lt "$2" ] || exit 12
echo "$mode"
exec head -c "$2" -- "$1"
`

// runner runs a program on the node or in a container. It lets both share the
// code for copies.
type runner func(context.Context, hypervisor.NodeCommand, hypervisor.NodeStreams) (hypervisor.NodeResult, error)

// CopyToNode implements hypervisor.NodeExecutor.
func (m *Machine) CopyToNode(ctx context.Context, file hypervisor.NodeFile, content io.Reader) (string, error) {
	return copyTo(ctx, m.RunOnNode, file, content)
}

// copyTo stores a file through a runner and returns its SHA-256. The checksum
// that the machine computed must match what was sent, so a damaged transfer is
// noticed even if the caller has no checksum.
func copyTo(ctx context.Context, run runner, file hypervisor.NodeFile, content io.Reader) (string, error) {
	if err := file.Check(); err != nil {
		return "", err
	}
	sent := &counted{from: content, sum: sha256.New()}
	var answer, failures bytes.Buffer
	result, err := run(ctx, hypervisor.NodeCommand{Program: "/bin/sh", Arguments: []string{
		"-c", store, "hostler-store", file.Path, strconv.FormatUint(uint64(file.Mode), 8), strconv.FormatInt(file.Size, 10),
		strings.ToLower(file.SHA256),
	}}, hypervisor.NodeStreams{
		Input: io.LimitReader(sent, file.Size+1), Output: limited{&answer}, Errors: limited{&failures}, // one too many is seen on the other side
	})
	if err != nil {
		return "", err
	}
	switch {
	case result.ExitCode == copyNone:
		return "", plugin.Errorf(plugin.NotFound, "the folder of the file does not exist")
	case result.ExitCode == copyKind:
		return "", plugin.Errorf(plugin.Conflict, "the path of the file is a folder")
	case result.ExitCode == copySize:
		return "", invalid("size", "the content does not have the announced length")
	case result.ExitCode == copyDigest:
		return "", invalid("sha256", "the content does not have the announced SHA-256")
	case !result.OK():
		return "", failed("the script that stores the file", result, failures.String())
	}
	sum := strings.TrimSpace(answer.String())
	if sum != sent.digest() {
		return "", plugin.Errorf(plugin.Protocol, "the machine stored other content than was sent")
	}
	return sum, nil
}

// CopyFromNode implements hypervisor.NodeExecutor.
func (m *Machine) CopyFromNode(ctx context.Context, name string, limit int64, content io.Writer) (hypervisor.NodeFile, error) {
	return copyFrom(ctx, m.RunOnNode, name, limit, content)
}

// copyFrom reads a file through a runner, at most limit bytes, and writes it to
// content as it arrives. A larger file is Refused; content may then have
// received a part of it.
func copyFrom(ctx context.Context, run runner, name string, limit int64, content io.Writer) (hypervisor.NodeFile, error) {
	if err := hypervisor.CheckNodePath(name); err != nil {
		return hypervisor.NodeFile{}, err
	}
	if limit < 0 || limit > 1<<50 {
		return hypervisor.NodeFile{}, invalid("limit", "the limit must be between 0 and 2^50 bytes")
	}
	got := &fetched{to: content, limit: limit, sum: sha256.New()}
	var failures bytes.Buffer
	result, err := run(ctx, hypervisor.NodeCommand{Program: "/bin/sh", Arguments: []string{
		"-c", fetch, "hostler-fetch", name, strconv.FormatInt(limit+1, 10),
	}}, hypervisor.NodeStreams{Output: got, Errors: limited{&failures}})
	if err != nil {
		return hypervisor.NodeFile{}, err
	}
	switch {
	case result.ExitCode == copyNone:
		return hypervisor.NodeFile{}, plugin.Errorf(plugin.NotFound, "the file does not exist")
	case result.ExitCode == copyKind:
		return hypervisor.NodeFile{}, plugin.Errorf(plugin.Conflict, "the path is not a file")
	case result.ExitCode == copySize:
		return hypervisor.NodeFile{}, larger(limit)
	case !result.OK():
		return hypervisor.NodeFile{}, failed("the script that reads the file", result, failures.String())
	}
	mode, bad := strconv.ParseUint(got.mode, 8, 16)
	if bad != nil {
		return hypervisor.NodeFile{}, plugin.Errorf(plugin.Protocol, "the machine did not report the mode of the file")
	}
	return hypervisor.NodeFile{Path: name, Mode: uint32(mode) & 0o777, Size: got.size, SHA256: hex.EncodeToString(got.sum.Sum(nil))}, nil
}

// invalid returns an Invalid error with a field.
func invalid(field, format string, args ...any) error {
	err := plugin.Errorf(plugin.Invalid, format, args...)
	err.Field = field
	return err
}

// larger returns the error for a file above the limit.
func larger(limit int64) error {
	return plugin.Errorf(plugin.Refused, "the file is larger than %d bytes", limit)
}

// failed returns the error of a script that ended with an unexpected exit code.
// The machine's text is cleaned and shortened.
func failed(what string, result hypervisor.NodeResult, said string) error {
	return plugin.Errorf(plugin.Refused, "%s failed on the machine with exit code %d: %s", what, result.ExitCode, clean(said))
}

// counted is a reader that computes the SHA-256 of what was read. The goroutine
// that sends reads it, while the goroutine that waits for the result asks for
// the digest.
type counted struct {
	from io.Reader
	mu   sync.Mutex // it is read by the one that sends, and looked at by the one that waits for the answer
	sum  hash.Hash
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum.Write(p[:n])
	return n, err
}

func (c *counted) digest() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return hex.EncodeToString(c.sum.Sum(nil))
}

// fetched receives the output of the script fetch: a line with the mode, then
// the content, which goes to the caller's writer. It fails when the content
// exceeds the limit.
type fetched struct {
	to    io.Writer
	limit int64
	sum   hash.Hash
	mode  string
	begun bool
	size  int64
}

func (f *fetched) Write(p []byte) (int, error) {
	rest := p
	for !f.begun && len(rest) > 0 {
		if rest[0] == '\n' {
			f.begun = true
		} else if f.mode += string(rest[0]); len(f.mode) > 8 {
			return 0, plugin.Errorf(plugin.Protocol, "the machine did not report the mode of the file")
		}
		rest = rest[1:]
	}
	if f.size += int64(len(rest)); f.size > f.limit {
		return 0, larger(f.limit)
	}
	f.sum.Write(rest)
	if _, err := f.to.Write(rest); err != nil {
		return 0, err
	}
	return len(p), nil
}

// limited keeps the first maxNoise bytes and drops the rest without an error.
type limited struct{ to *bytes.Buffer }

func (l limited) Write(p []byte) (int, error) {
	if room := maxNoise - l.to.Len(); room > 0 {
		l.to.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
