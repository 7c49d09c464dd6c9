// Package ui serves the web page. Its sources are in the folder web; make ui builds them into the folder dist, which is embedded. The
// handler is the fallback of the API.
package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/hostler/hostler/core/proxy"
)

// index is the document that every path of the page begins with; its script shows what the path names.
const index = "index.html"

// consoleDocument is the document that shows consoles, in a frame of the page.
const consoleDocument = "console.html"

// referenceDocument shows the OpenAPI document.
const referenceDocument = "api-docs.html"

// assets is the folder of the files that carry a hash of their content in their names.
const assets = "assets/"

// types are the media types of what dist may hold; the machine's own table of types is not asked.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2", ".json": "application/json",
	".txt": "text/plain; charset=utf-8",
}

// unbuilt is the document of a program that was compiled before the page was built.
const unbuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Hostler</title>
<p>This program was compiled before its web page was built. Run <code>make build</code> in Hostler's source folder, then start it again.
The API works without the page.</p>
</html>
`

// Handler serves the files of the page, and its document at every other path. It takes GET and HEAD only. Without a document among the
// files, it serves one that says how to build the page. The handler is nil when files is nil, and an error means that a file could not be
// read.
func Handler(files fs.FS) (http.Handler, error) {
	if files == nil {
		return nil, nil
	}
	h := &handler{files: map[string]*file{}}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		contentType, ok := types[path.Ext(name)]
		if !ok {
			return nil
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		h.files[name] = newFile(name, contentType, content)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the files of the page: %w", err)
	}
	if h.files[index] == nil {
		h.files[index] = newFile(index, types[".html"], []byte(unbuilt))
	}
	return h, nil
}

type handler struct {
	files map[string]*file
	// documents holds the document for each path of the service that it was asked for below: a proxy's, or none.
	documents sync.Map
}

// ServeHTTP serves one file. A path without one is the page's, whose script says when there is nothing.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this is a page: use GET to read it", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	found := h.files[name]
	switch {
	case strings.HasPrefix(name, assets) && found == nil:
		setHeaders(w.Header(), name, cacheRevalidate)
		http.Error(w, "this version of the page does not have this file", http.StatusNotFound)
	case strings.HasPrefix(name, assets):
		found.serve(w, r, cacheForever)
	case found != nil && name != index:
		found.serve(w, r, cacheRevalidate)
	default:
		h.document(proxy.SiteOf(r.Context(), r.TLS).Path).serve(w, r, cacheRevalidate)
	}
}

// document is index.html, whose files are named from the root of the host: it is served at paths of any depth.
func (h *handler) document(below string) *file {
	if made, ok := h.documents.Load(below); ok {
		return made.(*file)
	}
	root := strings.TrimSuffix(below, "/") + "/"
	content := bytes.ReplaceAll(h.files[index].content, []byte(`="./`), []byte(`="`+root))
	made, _ := h.documents.LoadOrStore(below, newFile(index, types[".html"], content))
	return made.(*file)
}

// file is one file of the page.
type file struct {
	name, contentType, etag string
	content                 []byte
	// compressed is the content by gzip, made at first use; nil where that saves nothing.
	compressed func() []byte
}

func newFile(name, contentType string, content []byte) *file {
	sum := sha256.Sum256(content)
	return &file{name: name, contentType: contentType, content: content, etag: base64.RawURLEncoding.EncodeToString(sum[:16]),
		compressed: sync.OnceValue(func() []byte { return compress(content) })}
}

func compress(content []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is one
	}
	_, _ = w.Write(content) // to memory
	_ = w.Close()
	if out.Len() >= len(content) {
		return nil
	}
	return out.Bytes()
}

func (f *file) serve(w http.ResponseWriter, r *http.Request, cache string) {
	content, etag := f.content, `"`+f.etag+`"`
	h := w.Header()
	setHeaders(h, f.name, cache)
	h.Set("Content-Type", f.contentType)
	h.Set("Vary", "Accept-Encoding")
	if small := f.compressed(); small != nil && takesGzip(r) {
		content, etag = small, `"`+f.etag+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", etag)
	if unchanged(r, f.etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(content) // the reader may be gone
	}
}

// takesGzip reads Accept-Encoding: a coding with the weight zero is refused.
func takesGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if name == "gzip" || name == "*" {
			weight, _ = strings.CutPrefix(strings.TrimSpace(weight), "q=")
			q, err := strconv.ParseFloat(weight, 64)
			return weight == "" || err == nil && q > 0
		}
	}
	return false
}

// unchanged reports whether the reader has this file, in whichever coding: RFC 9110 section 13.1.2 compares weakly.
func unchanged(r *http.Request, etag string) bool {
	for tag := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		tag = strings.Trim(strings.TrimPrefix(strings.TrimSpace(tag), "W/"), `"`)
		if tag == etag || tag == etag+"-gzip" {
			return true
		}
	}
	return false
}
