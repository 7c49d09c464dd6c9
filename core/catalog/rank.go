package catalog

import (
	"context"
	"fmt"
	"math"

	sdk "github.com/hostler/hostler/sdk/catalog"
)

// Settings of popularity.
const (
	// rankDays is the time over which installs are counted.
	rankDays = 30
	// maxScores bounds what a source may say of popularity.
	maxScores = 2 * sdk.MaxEntries
)

// rank asks a source how often its entries are installed. Entries that the
// answer does not contain lose their rank.
func (s *Store) rank(ctx context.Context, r *row, opened sdk.Catalog) error {
	ranker, ok := sdk.As[sdk.Ranker](opened)
	if !ok {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, s.SyncTime)
	defer cancel()
	scores, _, err := ranker.Popularity(asking, rankDays)
	if err != nil {
		return err
	}
	slugs, values, seen := []string{}, []float64{}, map[string]bool{}
	for _, score := range scores[:min(len(scores), maxScores)] {
		if !sdk.ValidSlug(score.Slug) || seen[score.Slug] || math.IsNaN(score.Score) || math.IsInf(score.Score, 0) {
			continue
		}
		seen[score.Slug] = true
		slugs, values = append(slugs, score.Slug), append(values, score.Score)
	}
	_, err = s.DB.Pool.Exec(ctx, `UPDATE catalog_entries e SET popularity = t.score
		FROM catalog_entries o LEFT JOIN unnest($2::text[], $3::double precision[]) t (slug, score) ON t.slug = o.slug
		WHERE o.id = e.id AND e.source = $1 AND e.popularity IS DISTINCT FROM t.score`, r.Name, slugs, values)
	if err != nil {
		return fmt.Errorf("storing the popularity of entries: %w", err)
	}
	return nil
}
