package private

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	socketName = ".s.PGSQL.5432"
	// aliasName is the name of the link in a short folder.
	aliasName = "s"
	// longest is the maximum length of a socket's path in bytes: sun_path of
	// unix(7) has 108, including the final NUL.
	longest = 107
)

// alias is a short path to a folder whose own path is too long for a socket.
// Only the clients in this process need it; PostgreSQL names its socket
// relative to the data directory.
type alias struct {
	path string // the folder to connect through
	made string // what to remove in the end; empty when path is the folder itself
}

// shorten returns a path to folder that is short enough for a socket: the
// folder's own path, or a link in a 0700 folder of ours below /run or the
// temporary folder.
func shorten(folder string) (alias, error) {
	if len(folder)+1+len(socketName) <= longest {
		return alias{path: folder}, nil
	}
	var reasons []error
	for _, short := range shortFolders(folder) {
		a, err := link(short, folder)
		if err == nil {
			return a, nil
		}
		reasons = append(reasons, err)
	}
	return alias{}, fmt.Errorf("%w: the path %s is too long for a socket, and no shorter path to it could be created: use a shorter "+
		"state folder (%w)", ErrAccess, folder, errors.Join(reasons...))
}

// shortFolders returns the candidates for the short folder, in order of
// preference.
func shortFolders(folder string) []string {
	sum := sha256.Sum256([]byte(folder))
	uid := os.Geteuid()
	name := fmt.Sprintf("hostler-%d-%s", uid, hex.EncodeToString(sum[:6]))
	bases := []string{"/run/user/" + strconv.Itoa(uid), os.TempDir(), "/tmp"}
	if uid == 0 {
		bases = []string{"/run", os.TempDir(), "/tmp"}
	}
	short := make([]string, len(bases))
	for i, base := range bases {
		short[i] = filepath.Join(base, name)
	}
	return short
}

// link creates the short folder with the link in it. It neither uses nor
// changes a folder that belongs to another user.
func link(short, folder string) (alias, error) {
	a := alias{path: filepath.Join(short, aliasName), made: short}
	if len(a.path)+1+len(socketName) > longest {
		return alias{}, fmt.Errorf("%s itself is too long", short)
	}
	if err := os.Mkdir(short, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return alias{}, err
	}
	if err := checkOwn(short, os.Geteuid(), 0o077); err != nil {
		return alias{}, err
	}
	if to, err := os.Readlink(a.path); err == nil && to == folder {
		return a, nil
	}
	if err := os.Remove(a.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return alias{}, err
	}
	return a, os.Symlink(folder, a.path)
}

func (a alias) remove() {
	if a.made != "" {
		os.Remove(a.path)
		os.Remove(a.made)
	}
}

// listener returns the ID of the process that listens on the cluster's socket,
// as the kernel reports it. It is an error if that process runs as another user
// than PostgreSQL's.
func (c *Cluster) listener() (int, error) {
	conn, err := net.Dial("unix", filepath.Join(c.alias.path, socketName))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var inner error
	if err := raw.Control(func(fd uintptr) { cred, inner = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return 0, err
	}
	if inner != nil {
		return 0, inner
	}
	if int(cred.Uid) != c.account.UID {
		return int(cred.Pid), fmt.Errorf("it runs as user ID %d", cred.Uid)
	}
	return int(cred.Pid), nil
}

// connection returns a URL for pgx. It contains no secret, because the kernel
// identifies the client.
func (c *Cluster) connection(role, database string) string {
	query := url.Values{"host": {c.alias.path}, "port": {"5432"}, "sslmode": {"disable"}}
	return (&url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + database, RawQuery: query.Encode()}).String()
}
