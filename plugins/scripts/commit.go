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

// resolved is what the cache keeps of the answer about a branch.
type resolved struct{ ETag, Commit string }

// resolve gives the commit of a branch or tag. An answer that has not changed costs the origin's limit of requests nothing.
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

// commit gives the files of one commit. What is in the cache is not asked for, also when the origin has it no more.
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

// note is the file of the cache for a name that may have any form.
func (c *Catalog) note(kind, name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(c.folder, kind, hex.EncodeToString(sum[:16])+".json")
}

// readNote reads what writeNote wrote. What is not there or damaged is as if it had never been: the cache may be emptied.
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

// maxNotes is how many notes of a kind are kept: one of the apps of each state that was synced.
const maxNotes = 100

// pruneNotes takes away the oldest notes of a kind.
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
