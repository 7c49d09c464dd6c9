package pvesim

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
)

// gzipAbove is the size from which an answer is packed for clients that ask for it.
const gzipAbove = 1024

// wantsGzip reports whether the client accepts gzip.
func wantsGzip(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
}

// pack compresses a body.
func pack(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(body) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// packed returns the body as the client wants it, and whether it is packed. A
// ready-made body is packed once.
func (c *Cluster) packed(r *http.Request, body []byte, ready *readyBody) ([]byte, bool) {
	if len(body) <= gzipAbove || !wantsGzip(r) {
		return body, false
	}
	if ready == nil {
		return pack(body), true
	}
	ready.once.Do(func() { ready.gzipped = pack(body) })
	return ready.gzipped, true
}
