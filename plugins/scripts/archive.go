package scripts

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/hostler/hostler/sdk/catalog/tree"
	"github.com/hostler/hostler/sdk/plugin"
)

// Limits of an archive. The real one has about 2,000 files and 6 MB, or 1.5 MB
// compressed, so there is plenty of room. The limits exist so that a
// manipulated archive cannot fill the disk or the memory.
const (
	maxArchive      = 64 << 20
	maxUncompressed = 256 << 20
	maxMembers      = 30000
	maxRatio        = 200
)

// treeLimits limit the files of an archive that are kept, and the number of
// commits in the cache.
var treeLimits = tree.Limits{Files: 20000, FileSize: 4 << 20, Size: 64 << 20, Trees: 16}

// wanted reports whether a file of the repository is kept. Only scripts, the
// functions they share and the license are; web pages, images and workflows are
// not.
func wanted(p string) bool {
	folder, name, nested := strings.Cut(p, "/")
	switch folder {
	case "ct", "install", "vm", "turnkey", "core":
		return nested
	case "misc":
		return nested && strings.HasSuffix(name, ".func")
	case "tools":
		return strings.HasPrefix(p, "tools/addon/") || strings.HasPrefix(p, "tools/pve/")
	case "LICENSE":
		return !nested
	}
	return strings.HasSuffix(p, ".func")
}

// unfit returns the error for an archive that does not look like one that
// GitHub makes.
func unfit(format string, args ...any) error { return plugin.Errorf(plugin.Protocol, format, args...) }

// unpack reads the archive of one commit, in which all files are in a single
// top folder, and adds the wanted files to w. Unwanted files are skipped but
// must obey the same rules (see unpacker.member). The archive is read to its
// end, because the checksum of gzip comes last; without that, a truncated
// archive could pass.
func unpack(ctx context.Context, r io.Reader, commit string, w *tree.Writer) error {
	compressed := &limitReader{ctx: ctx, from: r, left: maxArchive, what: "the archive"}
	unzipped, err := gzip.NewReader(compressed)
	if err != nil {
		return archiveError(compressed, err)
	}
	plain := &limitReader{ctx: ctx, from: unzipped, left: maxUncompressed, what: "the content of the archive", ratio: compressed}
	archive := tar.NewReader(plain)
	u := unpacker{commit: commit, seen: map[string]bool{}}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return archiveError(plain, archiveError(compressed, err))
		}
		p, keep, err := u.member(header)
		if err != nil {
			return err
		}
		if !keep {
			continue
		}
		if err := w.Add(p, header.Mode&0o111 != 0, archive); err != nil {
			return archiveError(plain, archiveError(compressed, err))
		}
	}
	// The checksum of gzip stands at its end, behind what tar reads.
	if _, err := io.Copy(io.Discard, plain); err != nil {
		return archiveError(plain, archiveError(compressed, err))
	}
	if u.files == 0 {
		return unfit("the archive is empty")
	}
	return nil
}

// archiveError returns the cause of an error while reading an archive. An error
// of r itself, of the context or of the plugin is kept. Everything else means
// that the archive is damaged.
func archiveError(r *limitReader, err error) error {
	var known *plugin.Error
	switch {
	case r.err != nil:
		return r.err
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return plugin.Errorf(plugin.Protocol, "the archive is truncated or is not an archive").WithCause(err)
}

// unpacker checks the members of one archive. It remembers the top folder and
// the paths that it has seen.
type unpacker struct {
	commit string
	top    string
	seen   map[string]bool
	count  int
	files  int
}

// member checks one member of the archive and returns its path in the
// repository; keep reports whether the file is needed. The archive comes from
// the internet and is only trusted after the whole of it was checked, so
// everything unusual is an error: links, special files, absolute paths, "..",
// duplicate paths, and more than one top folder. git writes the commit into the
// global header (git-archive(1)); an archive of another commit is refused.
func (u *unpacker) member(h *tar.Header) (p string, keep bool, err error) {
	if u.count++; u.count > maxMembers {
		return "", false, unfit("the archive has more than %d members", maxMembers)
	}
	switch h.Typeflag {
	case tar.TypeXGlobalHeader:
		// git writes the commit here.
		if comment := h.PAXRecords["comment"]; comment != "" && comment != u.commit {
			return "", false, unfit("the archive is for another commit than requested")
		}
		return "", false, nil
	case tar.TypeReg, tar.TypeDir:
	default:
		return "", false, unfit("the archive has a link or a special file: %.200q", h.Name)
	}
	name := strings.TrimSuffix(h.Name, "/")
	if name == "" || path.Clean(name) != name || path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") ||
		strings.ContainsAny(name, "\x00\\\n") {
		return "", false, unfit("the archive has a path that is invalid or leads out of the archive: %.200q", h.Name)
	}
	top, rest, nested := strings.Cut(name, "/")
	if u.top == "" {
		u.top = top
	}
	if top != u.top || !nested && h.Typeflag == tar.TypeReg {
		return "", false, unfit("the archive has more than one folder: %.200q", h.Name)
	}
	if h.Typeflag == tar.TypeDir {
		return "", false, nil
	}
	if u.seen[rest] {
		return "", false, unfit("the archive contains a path twice: %.200q", rest)
	}
	u.seen[rest] = true
	u.files++
	return rest, wanted(rest), nil
}

// limitReader returns an error after a number of bytes, when the context ends,
// or when the data has grown too much compared with its compressed form. The
// last rule applies only after the first MiB.
type limitReader struct {
	ctx  context.Context
	from io.Reader
	left int64
	read int64
	what string
	// ratio is what the bytes come from, compressed; nil when they are it.
	ratio *limitReader
	err   error
}

// Read implements io.Reader.
func (r *limitReader) Read(p []byte) (int, error) {
	if r.err == nil && r.ctx.Err() != nil {
		r.err = r.ctx.Err()
	}
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.from.Read(p)
	r.left -= int64(n)
	r.read += int64(n)
	switch {
	case r.left < 0:
		r.err = unfit("%s exceeds the size limit", r.what)
	case r.ratio != nil && r.read > 1<<20 && r.read > maxRatio*r.ratio.read:
		r.err = unfit("%s grows by more than a factor of %d when it is unpacked", r.what, maxRatio)
	default:
		return n, err
	}
	return 0, r.err
}
