package catalog

import "context"

// Icon is a picture.
type Icon struct {
	// Data has at most MaxIcon bytes. The service detects the format from the
	// bytes.
	Data []byte
	// ETag identifies this version for the next call. Unchanged is true if the ETag
	// of the call is still current; Data is empty then.
	ETag      string
	Unchanged bool
}

// MaxIcon is the largest icon, in bytes.
const MaxIcon = 512 << 10

// IconFetcher is implemented by catalogs that have pictures of their own. The
// service downloads icons at https addresses itself.
type IconFetcher interface {
	// Icon returns the icon for a reference from Entry.Icon. The argument etag
	// comes from an earlier call, or is empty.
	Icon(ctx context.Context, reference, etag string) (Icon, error)
}
