package release

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// ErrArchive: a tarball holds what no release may hold.
var ErrArchive = errors.New("the tarball is not a valid release")

// Unpack writes a verified tarball into a new folder. A release is made of
// folders and regular files: links, devices, FIFOs, names that are absolute or
// lead outside, names that come twice, set-uid bits and more than MaxEntries or
// MaxUnpacked are refused. The folder is left as it is when an error comes; the
// caller removes it.
func Unpack(ctx context.Context, tarball io.Reader, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("creating the folder of the release: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening the folder of the release: %w", err)
	}
	defer func() { _ = root.Close() }()
	packed, err := gzip.NewReader(tarball)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrArchive, err)
	}
	u := &unpacker{root: root, left: MaxUnpacked, seen: map[string]bool{}}
	if err := u.all(ctx, tar.NewReader(packed)); err != nil {
		return err
	}
	// What follows the last entry must be the end of the compressed stream: its
	// checksum is checked there.
	if n, err := io.Copy(io.Discard, io.LimitReader(packed, 1<<20)); err != nil || n == 1<<20 {
		return fmt.Errorf("%w: it has data after its end, or its checksum is wrong", ErrArchive)
	}
	return root.Close()
}

// unpacker writes the entries of an archive below one folder. os.Root keeps it
// inside, whatever the names in the archive are.
type unpacker struct {
	root *os.Root
	// left is how many bytes may still be written.
	left int64
	seen map[string]bool
}

// all writes all entries.
func (u *unpacker) all(ctx context.Context, archive *tar.Reader) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			if len(u.seen) == 0 {
				return fmt.Errorf("%w: it is empty", ErrArchive)
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrArchive, err)
		}
		if err := u.one(header, archive); err != nil {
			return err
		}
	}
}

// one writes an entry. It refuses what a release never has: names that are not
// plain, a name that comes twice, links and devices.
func (u *unpacker) one(header *tar.Header, content io.Reader) error {
	name := strings.TrimSuffix(header.Name, "/")
	if !plainPath(name) {
		return fmt.Errorf("%w: it has an entry with a name that is not plain", ErrArchive)
	}
	if u.seen[name] || len(u.seen) >= MaxEntries {
		return fmt.Errorf("%w: %s occurs twice, or there are too many entries", ErrArchive, name)
	}
	u.seen[name] = true
	switch header.Typeflag {
	case tar.TypeDir:
		if err := u.root.MkdirAll(name, 0o755); err != nil {
			return fmt.Errorf("creating the folder %s: %w", name, err)
		}
		return nil
	case tar.TypeReg:
		return u.file(name, header, content)
	}
	return fmt.Errorf("%w: %s is neither a folder nor a regular file", ErrArchive, name)
}

// file writes a file, of at most the size that its header says.
func (u *unpacker) file(name string, header *tar.Header, content io.Reader) (err error) {
	if header.Size > u.left {
		return fmt.Errorf("%w: it unpacks to more than %d bytes", ErrArchive, int64(MaxUnpacked))
	}
	u.left -= header.Size
	mode := fs.FileMode(0o644)
	if header.Mode&0o7000 != 0 {
		return fmt.Errorf("%w: %s has a set-uid, set-gid or sticky bit", ErrArchive, name)
	}
	if header.Mode&0o100 != 0 {
		mode = 0o755
	}
	if err := u.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("creating the folder of %s: %w", name, err)
	}
	out, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, content); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	// The umask must not decide who can run the service.
	if err := out.Chmod(mode); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := out.Sync(); err != nil {
		return fmt.Errorf("writing %s to the disk: %w", name, err)
	}
	return nil
}

// plainPath is a relative path of plain names.
func plainPath(name string) bool {
	if !fs.ValidPath(name) || name == "." || len(name) > 512 {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == '\uFFFD' })
}
