package catalog

import "context"

// Icon is a picture.
type Icon struct {
	// Data is at most MaxIcon bytes. The service looks at the bytes for what it is.
	Data []byte
	// ETag is for the next call; Unchanged says that the one of this call still holds, and Data is empty.
	ETag      string
	Unchanged bool
}

// MaxIcon is the largest icon, in bytes.
const MaxIcon = 512 << 10

// IconFetcher is satisfied by catalogs that have pictures of their own. Icons that are https addresses are fetched by the service.
type IconFetcher interface {
	// Icon gives the icon of a reference, which an Entry has. ETag is that of an earlier call, or empty.
	Icon(ctx context.Context, reference, etag string) (Icon, error)
}
