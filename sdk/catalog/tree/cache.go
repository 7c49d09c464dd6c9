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

// Cache keeps trees in a folder. Several processes may use one folder at the same time.
type Cache struct {
	dir    string
	limits Limits
}

// Limits bound one tree; zero is without a bound.
type Limits struct {
	Files          int
	FileSize, Size int64
	// Trees is how many a cache keeps; the ones that were used least lately go.
	Trees int
}

// NewCache gives the cache in a folder, which need not be there yet.
func NewCache(dir string, limits Limits) Cache { return Cache{dir: dir, limits: limits} }

// half begins the name of a tree that is not whole yet, and is left over when whoever made it has died.
const half = ".half-"

// Get gives the tree of a key, which is one name of a file; NotFound when it is not there. One that is damaged is taken away and not
// there.
func (c Cache) Get(key string) (*Tree, error) {
	if !catalog.ValidPath(key) || strings.Contains(key, "/") || strings.HasPrefix(key, ".") {
		return nil, plugin.Errorf(plugin.NotFound, "%.80q is no key of the cache", key)
	}
	dir := filepath.Join(c.dir, key)
	t, err := load(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, plugin.Errorf(plugin.NotFound, "the cache has no such tree").Because(err)
	case err != nil:
		_ = os.RemoveAll(dir)
		return nil, plugin.Errorf(plugin.NotFound, "the cache had a damaged tree").Because(err)
	}
	now := time.Now()
	_ = os.Chtimes(dir, now, now)
	return t, nil
}

// Keys are those of all trees, the ones that were used last first.
func (c Cache) Keys() []string {
	trees := c.list()
	slices.Reverse(trees)
	keys := make([]string, len(trees))
	for i, t := range trees {
		keys[i] = t.name
	}
	return keys
}

// Drop takes the tree of a key away, such as one that turned out to be damaged.
func (c Cache) Drop(key string) {
	if catalog.ValidPath(key) && !strings.Contains(key, "/") {
		_ = os.RemoveAll(filepath.Join(c.dir, key))
	}
}

// Writer takes the files of a new tree.
type Writer struct {
	dir    string
	limits Limits
	files  []File
	seen   map[string]bool
	size   int64
}

// Add takes one file. A path that is none, that comes twice, or that is a file and a folder is Protocol, and so is more than the limits.
// An error of the reader is returned.
func (w *Writer) Add(p string, executable bool, r io.Reader) error {
	switch {
	case !catalog.ValidPath(p):
		return plugin.Errorf(plugin.Protocol, "%.200q is no path that a file may have", p)
	case w.seen[p]:
		return plugin.Errorf(plugin.Protocol, "%.200q comes twice", p)
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
			return plugin.Errorf(plugin.Internal, "the cache cannot be written").Because(err)
		}
		return err
	case size > most:
		return plugin.Errorf(plugin.Protocol, "%.200q, or all files together, are larger than may be", p)
	}
	if err := file.Close(); err != nil {
		return stored(err, p)
	}
	w.size += size
	w.files = append(w.files, File{Path: p, Executable: executable, Size: size, Sum: hex.EncodeToString(h.Sum(nil))})
	return nil
}

// create makes the file of a path. A Writer without a folder only takes checksums.
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

type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

// stored says why a file could not be stored: the tree itself, or the disk.
func stored(err error, p string) error {
	var disk *fs.PathError
	if errors.As(err, &disk) && (errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist)) {
		return plugin.Errorf(plugin.Protocol, "%.200q is a file and a folder", p)
	}
	return plugin.Errorf(plugin.Internal, "the cache cannot be written").Because(err)
}

// Put keeps what fill adds under a key, and gives it. When fill fails nothing is kept. When the key is there already, that one stays.
func (c Cache) Put(key string, fill func(*Writer) error) (*Tree, error) {
	return c.put(func(w *Writer) (string, error) { return key, fill(w) })
}

// put is Put for a key that is known only when everything has been read.
func (c Cache) put(fill func(*Writer) (string, error)) (*Tree, error) {
	dir, err := c.scratch()
	if err != nil {
		return nil, plugin.Errorf(plugin.Internal, "the cache cannot be written").Because(err)
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
		return nil, plugin.Errorf(plugin.Internal, "the cache cannot be written").Because(err)
	}
	c.prune(key)
	// Renaming onto a folder that is there and not empty fails, and somebody else was faster then.
	if err := os.Rename(dir, filepath.Join(c.dir, key)); err != nil {
		if t, err := c.Get(key); err == nil {
			return t, nil
		}
		return nil, plugin.Errorf(plugin.Internal, "the cache cannot be written").Because(err)
	}
	return c.Get(key)
}

func (c Cache) scratch() (string, error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(c.dir, half)
}

func sortFiles(files []File) {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
}

// used is when a tree was used last.
type used struct {
	name string
	at   time.Time
}

// list gives all trees, those that were used least lately first. What the dead have left is taken away.
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

// prune makes room for the tree of a key.
func (c Cache) prune(key string) {
	trees := slices.DeleteFunc(c.list(), func(t used) bool { return t.name == key })
	for len(trees) >= max(c.limits.Trees, 1) && c.limits.Trees > 0 {
		_ = os.RemoveAll(filepath.Join(c.dir, trees[0].name))
		trees = trees[1:]
	}
}
