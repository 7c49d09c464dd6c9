// Package tree keeps sets of files for sources of catalogs, each under a key that names its state for ever, such as a commit. What is kept
// is there whole or not at all, and every byte is checked again when it is read.
package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// File is one file of a tree.
type File struct {
	// Path has the form that catalog.ValidPath wants.
	Path       string `json:"path"`
	Executable bool   `json:"executable,omitempty"`
	Size       int64  `json:"size"`
	// Sum is the SHA-256 in small hexadecimal digits.
	Sum string `json:"sum"`
}

// Tree is a set of files at one state. Its methods may be called at the same time.
type Tree struct {
	dir   string
	files []File // sorted by path
}

// Hash names the files and their contents: SHA-256 over the lines "mode size sum path", sorted by path as bytes, 64 small hexadecimal
// digits.
func Hash(files []File) string {
	h := sha256.New()
	for _, f := range files {
		mode := "0644"
		if f.Executable {
			mode = "0755"
		}
		_, _ = fmt.Fprintf(h, "%s %d %s %s\n", mode, f.Size, f.Sum, f.Path)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Files are all of them, sorted by path as bytes. The slice is the tree's own.
func (t *Tree) Files() []File { return t.files }

// Below are the files whose paths begin with a prefix.
func (t *Tree) Below(prefix string) []File {
	from, _ := slices.BinarySearchFunc(t.files, prefix, func(f File, p string) int { return strings.Compare(f.Path, p) })
	to := from
	for to < len(t.files) && strings.HasPrefix(t.files[to].Path, prefix) {
		to++
	}
	return t.files[from:to]
}

// Find gives the file of a path; false when there is none.
func (t *Tree) Find(p string) (File, bool) {
	i, ok := slices.BinarySearchFunc(t.files, p, func(f File, p string) int { return strings.Compare(f.Path, p) })
	if !ok {
		return File{}, false
	}
	return t.files[i], true
}

// Read gives the content of a file, which has been compared with its checksum. A path that is not there is NotFound; a file that was
// changed is Internal.
func (t *Tree) Read(p string) ([]byte, error) {
	f, ok := t.Find(p)
	if !ok {
		return nil, plugin.Errorf(plugin.NotFound, "there is no %.200q", p)
	}
	data, err := readFile(path.Join(t.dir, "files", p), f.Size)
	if err != nil {
		return nil, plugin.Errorf(plugin.Internal, "the cache has lost a file").Because(err)
	}
	sum := sha256.Sum256(data)
	if hex.EncodeToString(sum[:]) != f.Sum {
		return nil, plugin.Errorf(plugin.Internal, "a file of the cache was changed: %.200s", p)
	}
	return data, nil
}

func readFile(name string, size int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data := make([]byte, size)
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, err
	}
	if n, _ := file.Read(make([]byte, 1)); n != 0 {
		return nil, errors.New("the file is longer than it was")
	}
	return data, nil
}

// index is what stands beside the files: their list, and its hash.
type index struct {
	Hash  string `json:"hash"`
	Files []File `json:"files"`
}

// load reads the index of a folder.
func load(dir string) (*Tree, error) {
	raw, err := os.ReadFile(path.Join(dir, "index.json"))
	if err != nil {
		return nil, err
	}
	var i index
	if err := json.Unmarshal(raw, &i); err != nil {
		return nil, err
	}
	for _, f := range i.Files {
		if !catalog.ValidPath(f.Path) || f.Size < 0 {
			return nil, errors.New("the index has a path that is none")
		}
	}
	if Hash(i.Files) != i.Hash {
		return nil, errors.New("the index is not that of its hash")
	}
	return &Tree{dir: dir, files: i.Files}, nil
}
