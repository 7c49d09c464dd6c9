package catalog

import (
	"context"
	"time"
)

// Score is how much an entry is installed.
type Score struct {
	Slug string
	// Score is any number that is greater for what is installed more.
	Score float64
}

// Ranker is satisfied by catalogs that know what many people install.
type Ranker interface {
	// Popularity gives the scores of the last days, and when they were made. It asks a third party, so the service calls it only where the
	// owner has switched that on.
	Popularity(ctx context.Context, days int) (scores []Score, asOf time.Time, err error)
}
