// Package tree stores sets of files for catalog sources, each under a key that
// identifies its state for ever, such as a commit.
//
// A Cache contains trees. Put and PutFolder add one, Get returns it, and Tree.Read
// returns the content of a file. A tree is stored completely or not at all. The
// checksum of a file is verified each time it is read, so that a damaged disk or
// another program cannot change what runs on a node.
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
	// Path is accepted by catalog.ValidPath.
	Path       string `json:"path"`
	Executable bool   `json:"executable,omitempty"`
	Size       int64  `json:"size"`
	// Sum is the SHA-256 in lower-case hexadecimal digits.
	Sum string `json:"sum"`
}

// Tree is a set of files in one state. It is safe for concurrent use.
type Tree struct {
	dir   string
	files []File // sorted by path
}

// Hash identifies the files and their contents: the SHA-256 of the lines "mode size
// sum path", sorted by path as bytes, in 64 lower-case hexadecimal digits.
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

// Files returns all files, sorted by path as bytes. The caller must not change the
// slice.
func (t *Tree) Files() []File { return t.files }

// Below returns the files whose paths begin with the prefix. The caller must not
// change the slice.
func (t *Tree) Below(prefix string) []File {
	from, _ := slices.BinarySearchFunc(t.files, prefix, func(f File, p string) int { return strings.Compare(f.Path, p) })
	to := from
	for to < len(t.files) && strings.HasPrefix(t.files[to].Path, prefix) {
		to++
	}
	return t.files[from:to]
}

// Find returns the file with the path. It returns false if the file does not exist.
func (t *Tree) Find(p string) (File, bool) {
	i, ok := slices.BinarySearchFunc(t.files, p, func(f File, p string) int { return strings.Compare(f.Path, p) })
	if !ok {
		return File{}, false
	}
	return t.files[i], true
}

// Read returns the content of a file after comparing it with its checksum. An
// unknown path is NotFound. A changed file is Internal; the caller should Drop the
// tree.
func (t *Tree) Read(p string) ([]byte, error) {
	f, ok := t.Find(p)
	if !ok {
		return nil, plugin.Errorf(plugin.NotFound, "%.200q does not exist", p)
	}
	data, err := readFile(path.Join(t.dir, "files", p), f.Size)
	if err != nil {
		return nil, plugin.Errorf(plugin.Internal, "a file is missing in the cache").WithCause(err)
	}
	sum := sha256.Sum256(data)
	if hex.EncodeToString(sum[:]) != f.Sum {
		return nil, plugin.Errorf(plugin.Internal, "a file of the cache was changed: %.200s", p)
	}
	return data, nil
}

// readFile reads a file that must have exactly the given size.
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
		return nil, errors.New("the file has grown")
	}
	return data, nil
}

// index is the content of the file index.json beside the files of a tree.
type index struct {
	Hash  string `json:"hash"`
	Files []File `json:"files"`
}

// load reads and verifies the index of a tree's folder.
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
			return nil, errors.New("the index has an invalid path")
		}
	}
	if Hash(i.Files) != i.Hash {
		return nil, errors.New("the index does not match its hash")
	}
	return &Tree{dir: dir, files: i.Files}, nil
}
