package op

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
)

// smallAnswer is the size in bytes from which a response is compressed. Below
// it, the headers are most of the traffic.
const smallAnswer = 1 << 10

// compressing wraps a handler so that JSON and text are sent compressed with
// zstd or gzip, whichever the client prefers. Event streams, sockets, and files
// of other types are not compressed.
//
// The BREACH attack (CVE-2013-3587) finds a secret from the lengths of many
// compressed responses that contain the secret beside text of the attacker.
// Responses of operations that declare Secret are therefore never compressed.
// Cookies are in the headers, which are not compressed.
func compressing(h http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(smallAnswer), gzhttp.ContentTypeFilter(compressible), gzhttp.SetContentType(false))
	if err != nil {
		panic(fmt.Sprintf("op: compressing answers: %v", err)) // by options that do not fit together
	}
	compressed := wrap(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if mayCompress(r) {
			compressed(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// mayCompress reports whether the client accepts compression. Otherwise the
// response needs neither the wrapper nor the header Vary.
func mayCompress(r *http.Request) bool {
	return r.Header.Get("Accept-Encoding") != "" && r.Header.Get("Upgrade") == ""
}

// compressible reports whether responses of a media type become much smaller.
func compressible(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || media == "text/event-stream" {
		return false
	}
	switch media {
	case "application/json", "application/x-ndjson", "application/jsonl", "application/openmetrics-text", "application/javascript",
		"image/svg+xml":
		return true
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json")
}

// keepPlain leaves the answer uncompressed.
func (w *responseWriter) keepPlain(r *http.Request) {
	if mayCompress(r) {
		w.Header().Set(gzhttp.HeaderNoCompression, "1") // which is taken out again
	}
}
