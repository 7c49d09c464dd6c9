package host

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// TokenFacts holds facts that an answer about a token's rights brings along: the
// release, the end of the certificate, and the ends of credentials. An empty
// field means that nothing was said.
type TokenFacts struct {
	// Version is the release, and CertificateEnd when the certificate ends that was shown with it.
	Version        string
	CertificateEnd time.Time
	Ends           []hypervisor.CredentialEnd
}

// TokenFactsOf collects them. asked is the version of a separate call, used if the
// permissions contain none.
func TokenFactsOf(p hypervisor.Permissions, asked hypervisor.Version) TokenFacts {
	if p.Version != nil {
		asked = *p.Version
	}
	told := TokenFacts{Version: Clean(asked.Version), Ends: p.Ends}
	if instant(asked.NotAfter) != nil {
		told.CertificateEnd = asked.NotAfter
	}
	return told
}

// maxEnds bounds the ends of credentials that one answer may bring.
const maxEnds = 1000

// Save stores them for a host. An end is stored only for a credential that the
// host has here: the hypervisor lists the credentials of others too.
func (t TokenFacts) Save(ctx context.Context, tx pgx.Tx, id int64) error {
	if t.Version != "" {
		var end *time.Time
		if !t.CertificateEnd.IsZero() {
			end = &t.CertificateEnd
		}
		if _, err := tx.Exec(ctx, `UPDATE hosts SET version = $2, version_at = now(), certificate_ends_at = COALESCE($3, certificate_ends_at)
			WHERE id = $1`, id, t.Version, end); err != nil {
			return fmt.Errorf("storing the host's release: %w", err)
		}
	}
	var ids []string
	var ends []*time.Time
	for _, end := range t.Ends[:min(len(t.Ends), maxEnds)] {
		ids, ends = append(ids, Clean(end.ID)), append(ends, instant(end.At))
	}
	if len(ids) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, `UPDATE host_credentials k SET ends_at = e.at, ends_told_at = now()
		FROM unnest($2::text[], $3::timestamptz[]) AS e (id, at) WHERE k.host_id = $1 AND k.token_id = e.id`, id, ids, ends); err != nil {
		return fmt.Errorf("storing the expiry of credentials: %w", err)
	}
	return nil
}
