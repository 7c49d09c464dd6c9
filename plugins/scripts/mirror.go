package scripts

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/hostler/hostler/sdk/plugin"
)

// origin is where commits and archives come from: GitHub (fetcher) or a folder
// (mirror).
type origin interface {
	// resolve gives the commit of a branch or tag, and a tag of the answer for
	// the next time, when it may be unchanged.
	resolve(ctx context.Context, repository, ref, etag string) (commit, newTag string, unchanged bool, err error)
	// archive hands the archive of a commit to read, perhaps several times from
	// its beginning. NotFound when it is not there.
	archive(ctx context.Context, repository, commit string, read func(io.Reader) error) error
	close()
}

// mirror is a folder with archives, for installations without access to the
// internet. For each repository there is a folder owner/name. It contains
// COMMIT.tar.gz for each commit, and a file for each branch, named like it,
// with the commit in it.
type mirror struct{ folder string }

// open opens a file below the mirror's folder. os.Root keeps a name with ".."
// or a symbolic link inside it.
func (m mirror) open(name string) (*os.File, error) {
	root, err := os.OpenRoot(m.folder)
	if err != nil {
		return nil, plugin.Errorf(plugin.Refused, "the mirror's folder cannot be read").WithCause(err)
	}
	defer func() { _ = root.Close() }()
	file, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, plugin.Errorf(plugin.NotFound, "the commit, branch or repository does not exist in the mirror").WithCause(err)
	}
	if err != nil {
		return nil, plugin.Errorf(plugin.Refused, "a file of the mirror cannot be read").WithCause(err)
	}
	return file, nil
}

// resolve reads the commit of a branch from the file of that name. A mirror has
// no ETags, so the answer is never "unchanged".
func (m mirror) resolve(_ context.Context, repository, ref, _ string) (string, string, bool, error) {
	file, err := m.open(repository + "/" + ref)
	if err != nil {
		return "", "", false, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, 200))
	commit := strings.TrimSpace(string(text))
	if err != nil || !commitForm.MatchString(commit) {
		return "", "", false, plugin.Errorf(plugin.Protocol, "the mirror's file for the branch does not contain a commit").WithCause(err)
	}
	return commit, "", false, nil
}

// archive opens the archive of a commit, passes it to read and closes it.
func (m mirror) archive(_ context.Context, repository, commit string, read func(io.Reader) error) error {
	file, err := m.open(repository + "/" + commit + ".tar.gz")
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return read(file)
}

// close does nothing: a mirror has no connections.
func (mirror) close() {}
