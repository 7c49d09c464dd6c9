package scripts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/tree"
	"github.com/hostler/hostler/sdk/plugin"
)

// resolved is what the cache remembers about a branch or tag: the commit, and
// the ETag of the answer that named it.
type resolved struct{ ETag, Commit string }

// resolve returns the commit of a branch or tag. A ref that is a full commit is
// returned without a request. Otherwise the ETag of the last answer is sent
// along, because GitHub does not count an answer of 304 against its rate limit.
func (c *Catalog) resolve(ctx context.Context, repository, ref string) (string, error) {
	if commitForm.MatchString(ref) {
		return ref, nil
	}
	var before resolved
	name := c.note("refs", repository+"\n"+ref)
	c.readNote(name, &before)
	if !commitForm.MatchString(before.Commit) {
		before = resolved{}
	}
	commit, tag, unchanged, err := c.origin.resolve(ctx, repository, ref, before.ETag)
	if err != nil {
		return "", err
	}
	if unchanged {
		return before.Commit, nil
	}
	c.writeNote(name, resolved{ETag: tag, Commit: commit})
	return commit, nil
}

// commit returns the files of one commit. A commit in the cache is used without
// asking the origin, so an approved app can be installed even if the origin has
// deleted the commit or cannot be reached. Only one download runs at a time;
// whoever waited looks in the cache again before it downloads.
func (c *Catalog) commit(ctx context.Context, part catalog.PinPart) (*tree.Tree, error) {
	t, err := c.cache.Get(part.Commit)
	if plugin.KindOf(err) != plugin.NotFound || err == nil {
		return t, err
	}
	// One fetches at a time: whoever wants the same finds it afterwards.
	select {
	case c.slot <- struct{}{}:
		defer func() { <-c.slot }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if t, err := c.cache.Get(part.Commit); err == nil {
		return t, nil
	}
	err = c.origin.archive(ctx, part.Repository, part.Commit, func(r io.Reader) error {
		t, err = c.cache.Put(part.Commit, func(w *tree.Writer) error { return unpack(ctx, r, part.Commit, w) })
		return err
	})
	return t, err
}

// note returns the path of a small cache file. The name is hashed, because it
// may contain characters that a file name cannot.
func (c *Catalog) note(kind, name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(c.folder, kind, hex.EncodeToString(sum[:16])+".json")
}

// readNote reads a file that writeNote wrote and reports whether that
// succeeded. A missing or damaged file is not an error, because an
// administrator may empty the cache at any time.
func (c *Catalog) readNote(name string, into any) bool {
	raw, err := os.ReadFile(name)
	return err == nil && json.Unmarshal(raw, into) == nil
}

// writeNote replaces a small cache file in one step. A failure is only logged:
// the next sync then makes one more request.
func (c *Catalog) writeNote(name string, value any) {
	raw, err := json.Marshal(value)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o700)
	}
	var file *os.File
	if err == nil {
		file, err = os.CreateTemp(filepath.Dir(name), ".half-")
	}
	if err == nil {
		_, err = file.Write(raw)
		if closing := file.Close(); err == nil {
			err = closing
		}
		if err == nil {
			err = os.Rename(file.Name(), name)
		}
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}
	if err != nil {
		c.logger.Warn("cannot write the cache", "because", err.Error())
		return
	}
	pruneNotes(filepath.Dir(name))
}

// maxNotes is how many files of one kind are kept in the cache. There is one
// for each branch that was resolved and for each state that was synced.
const maxNotes = 100

// pruneNotes removes the oldest files of one kind, by the time they were
// written, until maxNotes are left. Errors are ignored: the next write tries
// again.
func pruneNotes(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) <= maxNotes {
		return
	}
	written := map[string]time.Time{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			written[e.Name()] = info.ModTime()
		}
	}
	names := slices.SortedFunc(maps.Keys(written), func(a, b string) int { return written[a].Compare(written[b]) })
	for _, name := range names[:max(len(names)-maxNotes, 0)] {
		_ = os.Remove(filepath.Join(folder, name))
	}
}
