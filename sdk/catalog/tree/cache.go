package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// Cache stores trees in a folder, one folder for each key. Several processes may
// use the same cache at the same time: a new tree is written beside the others and
// renamed.
type Cache struct {
	dir    string
	limits Limits
}

// Limits bound one tree. Zero means no limit.
type Limits struct {
	Files          int
	FileSize, Size int64
	// Trees is the number of trees that a cache keeps. The least recently used ones
	// are deleted.
	Trees int
}

// NewCache returns the cache in a folder. The folder need not exist.
func NewCache(dir string, limits Limits) Cache { return Cache{dir: dir, limits: limits} }

// half is the beginning of the name of an incomplete tree. Such a folder is left
// over if its process died.
const half = ".half-"

// Get returns the tree with the key, which must be a file name. It returns NotFound
// if the tree does not exist or is damaged. It deletes a damaged tree, and it marks
// a found one as used.
func (c Cache) Get(key string) (*Tree, error) {
	if !catalog.ValidPath(key) || strings.Contains(key, "/") || strings.HasPrefix(key, ".") {
		return nil, plugin.Errorf(plugin.NotFound, "%.80q is not a valid cache key", key)
	}
	dir := filepath.Join(c.dir, key)
	t, err := load(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, plugin.Errorf(plugin.NotFound, "the tree is not in the cache").WithCause(err)
	case err != nil:
		_ = os.RemoveAll(dir)
		return nil, plugin.Errorf(plugin.NotFound, "the cached tree is damaged").WithCause(err)
	}
	now := time.Now()
	_ = os.Chtimes(dir, now, now)
	return t, nil
}

// Keys returns the keys of all trees, most recently used first.
func (c Cache) Keys() []string {
	trees := c.list()
	slices.Reverse(trees)
	keys := make([]string, len(trees))
	for i, t := range trees {
		keys[i] = t.name
	}
	return keys
}

// Drop deletes the tree with the key, for example because its content turned out to
// be damaged.
func (c Cache) Drop(key string) {
	if catalog.ValidPath(key) && !strings.Contains(key, "/") {
		_ = os.RemoveAll(filepath.Join(c.dir, key))
	}
}

// Writer receives the files of a new tree. It is not safe for concurrent use.
type Writer struct {
	dir    string
	limits Limits
	files  []File
	seen   map[string]bool
	size   int64
}

// Add adds a file. A malformed path, one that was added before, one that is also a
// folder, and content above the limits are Protocol. An error of the reader is
// returned. A disk that cannot be written is Internal.
func (w *Writer) Add(p string, executable bool, r io.Reader) error {
	switch {
	case !catalog.ValidPath(p):
		return plugin.Errorf(plugin.Protocol, "%.200q is not an allowed path of a file", p)
	case w.seen[p]:
		return plugin.Errorf(plugin.Protocol, "%.200q occurs twice", p)
	case w.limits.Files > 0 && len(w.files) >= w.limits.Files:
		return plugin.Errorf(plugin.Protocol, "there are more than %d files", w.limits.Files)
	}
	w.seen[p] = true
	file, err := w.create(p)
	if err != nil {
		return stored(err, p)
	}
	defer func() { _ = file.Close() }()
	most := int64(1 << 62)
	if w.limits.FileSize > 0 {
		most = w.limits.FileSize
	}
	if w.limits.Size > 0 {
		most = min(most, w.limits.Size-w.size)
	}
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, h), io.LimitReader(r, most+1))
	switch {
	case err != nil:
		var disk *fs.PathError
		if errors.As(err, &disk) {
			return plugin.Errorf(plugin.Internal, "cannot write the cache").WithCause(err)
		}
		return err
	case size > most:
		return plugin.Errorf(plugin.Protocol, "%.200q, or the total of all files, exceeds the size limit", p)
	}
	if err := file.Close(); err != nil {
		return stored(err, p)
	}
	w.size += size
	w.files = append(w.files, File{Path: p, Executable: executable, Size: size, Sum: hex.EncodeToString(h.Sum(nil))})
	return nil
}

// create creates the file. A Writer without a folder computes checksums only.
func (w *Writer) create(p string) (io.WriteCloser, error) {
	if w.dir == "" {
		return nowhere{io.Discard}, nil
	}
	name := filepath.Join(w.dir, "files", filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// nowhere discards what is written.
type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

// stored classifies an error of the disk: Protocol if the paths of the tree
// contradict each other, else Internal.
func stored(err error, p string) error {
	var disk *fs.PathError
	if errors.As(err, &disk) && (errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist)) {
		return plugin.Errorf(plugin.Protocol, "%.200q is both a file and a folder", p)
	}
	return plugin.Errorf(plugin.Internal, "cannot write the cache").WithCause(err)
}

// Put stores the files that fill adds under a key and returns the tree. It stores
// nothing if fill returns an error. If the key already exists, the existing tree
// stays and is returned.
func (c Cache) Put(key string, fill func(*Writer) error) (*Tree, error) {
	return c.put(func(w *Writer) (string, error) { return key, fill(w) })
}

// put is Put for a key that is known only after everything was read.
func (c Cache) put(fill func(*Writer) (string, error)) (*Tree, error) {
	dir, err := c.scratch()
	if err != nil {
		return nil, plugin.Errorf(plugin.Internal, "cannot write the cache").WithCause(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	w := &Writer{dir: dir, limits: c.limits, seen: map[string]bool{}}
	key, err := fill(w)
	if err != nil {
		return nil, err
	}
	sortFiles(w.files)
	raw, err := json.Marshal(index{Hash: Hash(w.files), Files: w.files})
	if err == nil {
		err = os.WriteFile(path.Join(dir, "index.json"), raw, 0o600)
	}
	if err != nil {
		return nil, plugin.Errorf(plugin.Internal, "cannot write the cache").WithCause(err)
	}
	c.prune(key)
	// Renaming onto a non-empty folder fails. Another process was faster then, and
	// its tree has the same key.
	if err := os.Rename(dir, filepath.Join(c.dir, key)); err != nil {
		if t, err := c.Get(key); err == nil {
			return t, nil
		}
		return nil, plugin.Errorf(plugin.Internal, "cannot write the cache").WithCause(err)
	}
	return c.Get(key)
}

// scratch creates the folder for an incomplete tree.
func (c Cache) scratch() (string, error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(c.dir, half)
}

func sortFiles(files []File) {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
}

// used is the time of the last use of a tree, which is the modification time of its
// folder.
type used struct {
	name string
	at   time.Time
}

// list returns all trees, least recently used first. It deletes incomplete trees
// that are older than an hour, because their process has died.
func (c Cache) list() (trees []used) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || !e.IsDir():
		case !strings.HasPrefix(e.Name(), half):
			trees = append(trees, used{e.Name(), info.ModTime()})
		case time.Since(info.ModTime()) > time.Hour:
			_ = os.RemoveAll(filepath.Join(c.dir, e.Name()))
		}
	}
	slices.SortFunc(trees, func(a, b used) int { return a.at.Compare(b.at) })
	return trees
}

// prune deletes old trees to make room for the tree with the key.
func (c Cache) prune(key string) {
	trees := slices.DeleteFunc(c.list(), func(t used) bool { return t.name == key })
	for len(trees) >= max(c.limits.Trees, 1) && c.limits.Trees > 0 {
		_ = os.RemoveAll(filepath.Join(c.dir, trees[0].name))
		trees = trees[1:]
	}
}
