package poll

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// A row of an answer is the guest whose row has the same identity: the UID, or
// kind and ref where the hypervisor tells none. What is told with a UID at one
// time and without at another is brought to one identity first. Every later
// statement compares identities alone.
const (
	// learnUIDs stores the UID of a guest whose UID was unknown, when its ref
	// is reported with one.
	learnUIDs = `UPDATE guests g SET uid = p.uid FROM poll_guests p
WHERE g.cluster_id = $1 AND g.uid IS NULL AND p.uid IS NOT NULL AND g.kind = p.kind AND g.ref = p.ref
	AND NOT EXISTS (SELECT FROM guests o WHERE o.cluster_id = $1 AND o.identity = p.identity)`

	// recallUIDs gives a row without a UID that of the guest with its ref that
	// was listed last, unless the answer reports that guest elsewhere. In a
	// cluster without UIDs the range is empty, which the index tells at once.
	recallUIDs = `UPDATE poll_guests p SET uid = g.uid, identity = g.identity
FROM (SELECT DISTINCT ON (kind, ref) kind, ref, uid, identity FROM guests
	WHERE cluster_id = $1 AND identity >= 'uid:' AND identity < 'uid;' ORDER BY kind, ref, listed_at DESC NULLS FIRST, id DESC) g
WHERE p.uid IS NULL AND p.kind = g.kind AND p.ref = g.ref AND NOT EXISTS (SELECT FROM poll_guests o WHERE o.identity = g.identity)
	AND NOT EXISTS (SELECT FROM guests o WHERE o.cluster_id = $1 AND o.identity = p.identity)`
)

// identify gives the staged rows the identities of the cluster's guests. Later
// statements compare identities alone.
func identify(ctx context.Context, tx pgx.Tx, cluster int64, v *inventory) error {
	for _, s := range []struct {
		what      string
		wanted    bool
		statement string
	}{
		{"learning identities of guests", len(v.seenUIDs) > 0, learnUIDs},
		{"restoring identities of guests", v.bare > 0, recallUIDs},
	} {
		if !s.wanted {
			continue
		}
		if _, err := tx.Exec(ctx, s.statement, cluster); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return nil
}

// replaces reports whether the guest under the id of a missing guest is another
// one: it has another UID, or the answer lists it, so that a row without a UID
// stands for it a second time.
func (v *inventory) replaces(found, asked string) bool {
	if found == "" || asked != "" {
		return found != "" && found != asked
	}
	_, listed := v.seenUIDs[found]
	return listed
}
