package tree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// AddFolder adds all files of a folder. It never reads outside of the folder: a
// symbolic link, device, socket or pipe is Protocol, and the message names it.
// Hidden files and folders, whose names begin with a dot, are skipped. A file that
// changes while it is read may be stored in a mixed state; see Cache.PutFolder.
func (w *Writer) AddFolder(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return folderError(err)
		case p == ".":
			return nil
		case strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return plugin.Errorf(plugin.Protocol, "%.200q is a link or a special file", p)
		case !catalog.ValidPath(p):
			return plugin.Errorf(plugin.Protocol, "%.200q is not an allowed path of a file", p)
		}
		return w.addFile(root, p)
	})
}

// addFile adds one file of the folder.
func (w *Writer) addFile(root *os.Root, p string) error {
	file, err := openRegular(root, p)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return folderError(err)
	}
	return w.Add(p, info.Mode()&0o111 != 0, file)
}

// openRegular opens a regular file. The file may have been replaced since it was
// listed, and opening a pipe would block for ever.
func openRegular(root *os.Root, p string) (*os.File, error) {
	before, err := root.Lstat(p)
	if err != nil {
		return nil, folderError(err)
	}
	if !before.Mode().IsRegular() {
		return nil, plugin.Errorf(plugin.Protocol, "%.200q is a link or a special file", p)
	}
	file, err := root.OpenFile(p, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, folderError(err)
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || !os.SameFile(before, info) {
		_ = file.Close()
		return nil, plugin.Errorf(plugin.Protocol, "%.200q was replaced by another file while it was read", p)
	}
	return file, nil
}

// folderError is the error of a folder that the system does not let us read.
func folderError(err error) error {
	return plugin.Errorf(plugin.Refused, "the folder cannot be read").WithCause(err)
}

// PutFolder stores the present state of a folder under its Hash, and returns the
// tree and the hash. It reads the folder twice: if the two readings differ,
// somebody changes the folder, and the state that was read may never have existed.
// The error is Conflict then.
func (c Cache) PutFolder(root *os.Root) (*Tree, string, error) {
	key := ""
	t, err := c.put(func(w *Writer) (string, error) {
		if err := w.AddFolder(root); err != nil {
			return "", err
		}
		again, err := sums(root)
		if err != nil {
			return "", err
		}
		sortFiles(w.files)
		if !slices.Equal(w.files, again) {
			return "", plugin.Errorf(plugin.Conflict, "the folder changed while it was read; retry")
		}
		key = Hash(w.files)
		return key, nil
	})
	return t, key, err
}

// sums reads a folder for its checksums only.
func sums(root *os.Root) ([]File, error) {
	w := &Writer{seen: map[string]bool{}}
	err := w.AddFolder(root)
	sortFiles(w.files)
	return w.files, err
}

// ReadRegular reads one file of a folder. A link, a special file and a file larger
// than most bytes are Protocol. A file that does not exist is NotFound.
func ReadRegular(root *os.Root, p string, most int64) ([]byte, error) {
	if !catalog.ValidPath(p) {
		return nil, plugin.Errorf(plugin.NotFound, "%.200q is not an allowed path of a file", p)
	}
	file, err := openRegular(root, p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, plugin.Errorf(plugin.NotFound, "%.200q does not exist", p).WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, folderError(err)
	}
	if int64(len(data)) > most {
		return nil, plugin.Errorf(plugin.Protocol, "%.200q is larger than %d bytes", p, most)
	}
	return data, nil
}
