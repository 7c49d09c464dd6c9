package op

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
)

// smallAnswer is the size from which an answer is compressed, in bytes: below it the head is most of what crosses.
const smallAnswer = 1 << 10

// compressing wraps a handler so that JSON and text cross compressed, by zstd or gzip, whichever the client prefers. Event
// streams and sockets stay as they are, and so do files that are compressed already or of any other type.
//
// BREACH (CVE-2013-3587) finds a secret by the length of many compressed answers that hold it beside what the attacker
// chose. Answers with a secret in their body are therefore never compressed: operations that declare Secret. Cookies are in the
// head, which is not compressed.
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

// mayCompress reports whether the answer may be compressed at all. One that may not costs nothing of it, and needs no header Vary:
// everybody can read it.
func mayCompress(r *http.Request) bool {
	return r.Header.Get("Accept-Encoding") != "" && r.Header.Get("Upgrade") == ""
}

// compressible reports whether answers of the media type get much smaller.
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
