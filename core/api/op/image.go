package op

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Image is a small picture that pages show.
type Image struct {
	// Type is the media type, and Data the complete picture.
	Type string
	Data []byte
	// Tag identifies the data, for example by a checksum. It becomes the ETag.
	Tag string
}

// sandboxed is the Content-Security-Policy of a picture that is opened on its
// own: it may do nothing.
var sandboxed = []string{"default-src 'none'; sandbox; frame-ancestors 'none'"}

// GetImage declares an operation that answers GET with a small picture, whose
// media types are in Spec.Content. Unlike a Download, it is shown in a page,
// which may have hundreds of them. Browsers cache it and ask each time whether
// it has changed (304).
func GetImage[I any](a *API, path string, handler func(context.Context, *I) (*Image, error), spec Spec) {
	if len(spec.Content) == 0 {
		panic(fmt.Sprintf("op: the picture %s names no media type", spec.ID))
	}
	operation := a.declare(http.MethodGet, path, spec, reflect.TypeFor[I]())
	operation.Download = true
	declared := operation.describe()
	content := map[string]*huma.MediaType{}
	for _, media := range spec.Content {
		content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	declared.Responses = map[string]*huma.Response{"200": {Description: "An image", Content: content},
		"304": {Description: "The image still matches If-None-Match"}}
	type file struct{ Body func(huma.Context) }
	huma.Register(a.huma, declared, func(ctx context.Context, in *I) (*file, error) {
		image, err := run(ctx, a, in, handler)
		if err != nil {
			return nil, a.refusal(ctx, err)
		}
		return &file{func(e huma.Context) { image.write(requestOf(ctx), e) }}, nil
	})
	a.finish(operation)
}

// write sends an image with an entity tag. The content comes from a third
// party, so a strict Content-Security-Policy keeps an SVG from running scripts.
func (image *Image) write(q *request, e huma.Context) {
	tag := strconv.Quote(image.Tag)
	h := q.w.Header()
	h.Set("ETag", tag)
	h["Cache-Control"] = []string{"private, no-cache"}
	h["Content-Security-Policy"] = sandboxed
	for given := range strings.SplitSeq(e.Header("If-None-Match"), ",") {
		if given = strings.TrimPrefix(strings.TrimSpace(given), "W/"); given == tag || given == "*" {
			q.w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.Set("Content-Type", image.Type)
	h.Set("Content-Length", strconv.Itoa(len(image.Data)))
	q.w.WriteHeader(http.StatusOK)
	if e.Method() != http.MethodHead {
		_, _ = q.w.Write(image.Data) // the reader may be gone
	}
}
