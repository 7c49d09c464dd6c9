package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"github.com/hostler/hostler/sdk/plugin"
)

// BundleStore receives the files of a bundle. A nil field is not called.
type BundleStore struct {
	// Begin receives the validated manifest once, before any file. An error ends
	// the reading and is returned.
	Begin func(Manifest) error
	// File receives each file in the order of the manifest. The reader returns
	// exactly the bytes of the file. If they are cut, or do not match the checksum,
	// it ends with an error of kind Protocol instead of io.EOF. File need not read
	// everything; ReadBundle reads and checks the rest. The reader is not valid
	// after File has returned. An error ends the reading and is returned.
	File func(File, io.Reader) error
}

// ReadBundle requests a bundle and checks everything that the catalog delivers: the
// manifest, the size and checksum of every file, and that nothing is missing or
// superfluous. The result counts only if ReadBundle returns without an error. A
// wrong bundle is Protocol.
//
// ReadBundle calls the store from one goroutine, which has ended when ReadBundle
// returns. Its memory does not grow with the bundle.
func ReadBundle(ctx context.Context, c Catalog, request BundleRequest, store BundleStore) (Manifest, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pr, pw := io.Pipe()
	r := &bundleReader{request: request, store: store, data: pr, manifests: make(chan Manifest, 1), ended: make(chan struct{})}
	go r.run()
	var failed error
	sent := false
	err := c.Bundle(ctx, request, func(part BundlePart) error {
		if failed == nil {
			failed = r.part(ctx, part, pw, &sent)
		}
		return failed // a source that goes on all the same gets it again
	})
	switch {
	case failed != nil:
		err = failed
	case err == nil && ctx.Err() != nil:
		err = ctx.Err()
	case err == nil && !sent:
		err = bad("the bundle is empty")
	}
	if err != nil {
		_ = pw.CloseWithError(err)
	} else {
		_ = pw.Close()
	}
	close(r.manifests)
	<-r.ended
	if err == nil || errors.Is(err, errReaderEnded) {
		err = r.err
	}
	if err != nil {
		return Manifest{}, err
	}
	return r.manifest, nil
}

// errReaderEnded is the error of a write after the reader has ended. The reader
// knows the real reason.
var errReaderEnded = errors.New("the reader of the bundle was closed")

// bundleReader passes the files of one bundle to the store. The goroutine run reads
// from a pipe into which the callback of Catalog.Bundle writes. That way the store
// can use an ordinary io.Reader for each file.
type bundleReader struct {
	request   BundleRequest
	store     BundleStore
	data      *io.PipeReader
	manifests chan Manifest
	manifest  Manifest
	ended     chan struct{}
	err       error
}

// part handles one part from the source: the first is the manifest, all others are
// data.
func (r *bundleReader) part(ctx context.Context, part BundlePart, data io.Writer, sent *bool) error {
	switch {
	case (part.Manifest != nil) == (part.Data != nil):
		return bad("a part of the bundle must be either a manifest or data")
	case part.Manifest != nil && *sent:
		return bad("the bundle has two manifests")
	case part.Manifest != nil:
		if err := CheckManifest(*part.Manifest, r.request); err != nil {
			return err
		}
		*sent = true
		r.manifests <- *part.Manifest
		return nil
	case !*sent:
		return bad("the bundle does not begin with its manifest")
	case len(part.Data) == 0 || len(part.Data) > MaxBundleData:
		return bad("a part of the bundle has %d bytes; 1 to %d are allowed", len(part.Data), MaxBundleData)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := data.Write(part.Data)
	return err
}

// run reads the bundle and closes the pipe, so that a blocked writer continues.
func (r *bundleReader) run() {
	defer close(r.ended)
	r.err = r.read()
	_ = r.data.CloseWithError(errReaderEnded)
}

// read passes the files to the store and checks that nothing follows the last one.
func (r *bundleReader) read() error {
	m, ok := <-r.manifests
	if !ok {
		return bad("the bundle has no manifest")
	}
	r.manifest = m
	if r.store.Begin != nil {
		if err := r.store.Begin(m); err != nil {
			return err
		}
	}
	for _, f := range m.Files {
		content := &fileReader{file: f, from: r.data, left: f.Size, hash: sha256.New()}
		if r.store.File != nil {
			if err := r.store.File(f, content); err != nil {
				return err
			}
		}
		if _, err := io.Copy(io.Discard, content); err != nil {
			return err
		}
	}
	switch n, err := io.CopyN(io.Discard, r.data, 1); {
	case n > 0:
		return bad("the bundle has more bytes than its manifest says")
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

// fileReader reads one file and ends with io.EOF only if the content matches the
// manifest.
type fileReader struct {
	file File
	from io.Reader
	left int64
	hash hash.Hash
	err  error
}

// Read implements io.Reader.
func (r *fileReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.left == 0 {
		r.err = io.EOF
		if hex.EncodeToString(r.hash.Sum(nil)) != r.file.Sum {
			r.err = plugin.Errorf(plugin.Protocol, "the content of %.80q does not match its checksum", r.file.Path)
		}
		return 0, r.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := r.from.Read(p[:min(int64(len(p)), r.left)])
	_, _ = r.hash.Write(p[:n])
	r.left -= int64(n)
	switch {
	case err == nil || n > 0:
		return n, nil
	case errors.Is(err, io.EOF):
		r.err = bad("the bundle ends early, in %.80q", r.file.Path)
	default:
		r.err = err
	}
	return 0, r.err
}
