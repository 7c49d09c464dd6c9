package release

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Pack writes the tarball of a folder and says what the manifest must say of
// it. The same files give the same bytes: names in order, the one date, no
// owner.
func Pack(from, tarball string, date time.Time) (file File, err error) {
	out, err := os.OpenFile(tarball, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return File{}, fmt.Errorf("creating the tarball: %w", err)
	}
	defer func() {
		if closed := out.Close(); err == nil && closed != nil {
			err = fmt.Errorf("writing the tarball: %w", closed)
		}
	}()
	sum := sha256.New()
	packed, err := gzip.NewWriterLevel(io.MultiWriter(out, sum), gzip.BestCompression)
	if err != nil {
		return File{}, fmt.Errorf("compressing: %w", err)
	}
	archive := tar.NewWriter(packed)
	if err := pack(archive, from, date); err != nil {
		return File{}, err
	}
	if err := archive.Close(); err != nil {
		return File{}, fmt.Errorf("closing the tarball: %w", err)
	}
	if err := packed.Close(); err != nil {
		return File{}, fmt.Errorf("closing the tarball: %w", err)
	}
	info, err := out.Stat()
	if err != nil {
		return File{}, fmt.Errorf("checking the tarball: %w", err)
	}
	return File{Name: filepath.Base(tarball), Size: info.Size(), SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// pack writes a folder into an archive, in the order of names and with one date
// for all: two builds of the same tree are equal byte by byte.
func pack(archive *tar.Writer, from string, date time.Time) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil || name == "." {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		header := &tar.Header{Name: filepath.ToSlash(name), ModTime: date.UTC().Truncate(time.Second), Format: tar.FormatPAX}
		switch {
		case entry.IsDir():
			header.Typeflag, header.Mode, header.Name = tar.TypeDir, 0o755, header.Name+"/"
			return archive.WriteHeader(header)
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is neither a folder nor a regular file", path)
		}
		header.Typeflag, header.Size, header.Mode = tar.TypeReg, info.Size(), 0o644
		if info.Mode()&0o100 != 0 {
			header.Mode = 0o755
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		_, err = io.Copy(archive, file)
		return err
	})
}

// Publish writes manifest and signatures into the folder, the manifest last:
// whoever fetches in between sees the old manifest with signatures that do not
// fit, and tries again.
func Publish(dir string, m *Manifest, signers ...*Signer) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the manifest: %w", err)
	}
	raw = append(raw, '\n')
	signatures, err := Sign(raw, signers...)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		text []byte
	}{{SignatureName, signatures}, {ManifestName, raw}} {
		fresh := filepath.Join(dir, "."+file.name+".new")
		if err := os.WriteFile(fresh, file.text, 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", file.name, err)
		}
		if err := os.Rename(fresh, filepath.Join(dir, file.name)); err != nil {
			return fmt.Errorf("writing %s: %w", file.name, err)
		}
	}
	return nil
}
