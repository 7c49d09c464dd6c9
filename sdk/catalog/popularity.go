package catalog

import (
	"context"
	"time"
)

// Score is the popularity of an entry.
type Score struct {
	Slug string
	// Score is larger for entries that are installed more often. Only the order
	// matters.
	Score float64
}

// Ranker is implemented by catalogs that know how often entries are installed.
type Ranker interface {
	// Popularity returns the scores of the last days and the time at which they
	// were computed. It contacts a third party, so the service calls it only if the
	// owner has enabled that.
	Popularity(ctx context.Context, days int) (scores []Score, asOf time.Time, err error)
}
