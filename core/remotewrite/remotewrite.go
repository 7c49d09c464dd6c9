// Package remotewrite sends samples to a receiver that speaks Prometheus' remote write 1.0, such as Prometheus itself or VictoriaMetrics,
// for those who keep their history elsewhere.
//
// Samples are read from the database, in the order of their time, and how far the receiver has them is noted there after each request: a
// service that was away goes on where it stood, as long as samples are kept. No poll waits for it, and no more than one reading and one
// request are in memory. Of several instances one sends. No request has two samples of one series, so that one which is sent again after a
// death is the same for the receiver. A sample that fills a gap of long ago, after what is newer was sent, is not sent: most receivers
// take nothing out of order.
package remotewrite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/outbound"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
)

// SealedTable is the column of the receiver's password or token, for rotating the key.
var SealedTable = secret.Table{Name: "remote_write", Column: "secret", Key: []string{"id"}}

// place is what the secret is bound to.
var place = secret.Binding{Table: SealedTable.Name, Column: SealedTable.Column, Row: secret.Row(1)}

// Store is the one receiver of an instance.
type Store struct {
	DB   *db.DB
	Keys *secret.Box
	// AllowLocal permits receivers at loopback and link-local addresses.
	AllowLocal bool
	Logger     hclog.Logger
	// Heartbeat may be nil.
	Heartbeat *heartbeat.Monitor
	// SecretsUnavailable says that secrets cannot be opened now; nil means that they can.
	SecretsUnavailable func() bool
}

// Receiver is what is wanted. Its secret is a password when there is a user, and else a bearer token; empty for none.
type Receiver struct {
	URL, Fingerprint, Username string
	Secret                     secret.String
}

// State is the receiver and how far it is. The JSON names are those of the API.
type State struct {
	URL         *string `json:"url" example:"https://metrics.example.com/api/v1/write" doc:"Where samples are sent; null if remote write is off"`
	Fingerprint *string `json:"tls_fingerprint" doc:"Fingerprint of the pinned certificate; null if the certificate is checked against the system's certificate authorities"`
	Auth        string  `json:"auth" enum:"none,basic,bearer" example:"bearer" doc:"How the service authenticates"`
	Username    *string `json:"username" example:"hostler"`

	SentTo         *time.Time `json:"sent_to" doc:"All samples before this time were sent"`
	LateS          *int64     `json:"late_s" example:"45" doc:"Maximum age of the oldest unsent sample in seconds. About 45 is normal because samples are held back until no poll can add to their time"`
	SamplesSent    int64      `json:"samples_sent" example:"120000" doc:"Number of values that the receiver accepted"`
	SamplesRefused int64      `json:"samples_refused" doc:"Number of values that the receiver rejected; they are not sent again"`
	LastOKAt       *time.Time `json:"last_ok_at" doc:"When the receiver last accepted a request"`
	LastError      *string    `json:"last_error" example:"the receiver responded with 401 Unauthorized"`
	LastErrorAt    *time.Time `json:"last_error_at"`
	Failures       int        `json:"failures" doc:"Number of failures since the last success; the delay before the next attempt grows with each one, up to 5 minutes"`
}

// Get gives the state; that of a service without a receiver is empty.
func (s *Store) Get(ctx context.Context) (*State, error) {
	state := &State{Auth: "none"}
	var address, fingerprint, username, failure string
	var sealed bool
	var to time.Time
	var late int64
	err := s.DB.Pool.QueryRow(ctx, `SELECT url, fingerprint, username, secret IS NOT NULL, sent_at,
		GREATEST(0, extract(epoch FROM now() - sent_at))::bigint, sent, refused, ok_at, error, error_at, failures FROM remote_write`).
		Scan(&address, &fingerprint, &username, &sealed, &to, &late, &state.SamplesSent, &state.SamplesRefused, &state.LastOKAt, &failure,
			&state.LastErrorAt, &state.Failures)
	if errors.Is(err, pgx.ErrNoRows) {
		return state, nil
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the receiver of samples: %w", err))
	}
	to = to.UTC()
	state.URL, state.SentTo, state.LateS = &address, &to, &late
	state.Fingerprint, state.Username, state.LastError = host.CleanOrNil(fingerprint), host.CleanOrNil(username), host.CleanOrNil(failure)
	for _, at := range []*time.Time{state.LastOKAt, state.LastErrorAt} {
		if at != nil {
			*at = at.UTC()
		}
	}
	switch {
	case sealed && username != "":
		state.Auth = "basic"
	case sealed:
		state.Auth = "bearer"
	}
	return state, nil
}

// Set makes a receiver that of the instance, in place of any other. A new one gets what is measured from now on, and one that takes the
// place of another goes on where that stood. Problems: invalid with all that is wrong.
func (s *Store) Set(ctx context.Context, r Receiver) (*State, error) {
	u, err := s.check(&r)
	if err != nil {
		return nil, err
	}
	var sealed []byte
	if !r.Secret.Empty() {
		if sealed, err = s.Keys.Seal(r.Secret, place); err != nil {
			return nil, fmt.Errorf("encrypting the receiver's secret: %w", err)
		}
	}
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		_, err := tx.Pgx.Exec(ctx, `INSERT INTO remote_write AS w (url, fingerprint, username, secret) VALUES ($1, $2, $3, $4)
			ON CONFLICT (id) DO UPDATE SET url = excluded.url, fingerprint = excluded.fingerprint, username = excluded.username,
			secret = excluded.secret, version = w.version + 1, ok_at = NULL, error = '', error_at = NULL, failures = 0, next_at = now()`,
			r.URL, r.Fingerprint, r.Username, sealed)
		if err != nil {
			return fmt.Errorf("storing the receiver: %w", err)
		}
		audit.Describe(ctx, func(e *audit.Entry) { e.TargetKind, e.TargetName = "receiver", u.Host })
		return audit.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return s.Get(ctx)
}

// check brings the receiver into the form in which it is stored.
func (s *Store) check(r *Receiver) (*url.URL, error) {
	var faults []problem.Fault
	fault := func(field, msg string) {
		faults = append(faults, problem.Fault{Loc: []any{"body", field}, Msg: msg, Type: "value_error"})
	}
	u, _, err := s.rules().ParseURL(r.URL)
	if err != nil {
		fault("url", err.Error())
	} else if u.Scheme == "http" {
		if !r.Secret.Empty() {
			fault("url", "must be https:// with a password or token, which would otherwise be readable on the network")
		}
		if r.Fingerprint != "" {
			fault("tls_fingerprint", "requires https://")
		}
	}
	if r.Fingerprint != "" {
		if pin, err := endpoint.ParseFingerprint(r.Fingerprint); err != nil {
			fault("tls_fingerprint", "must be a SHA-256 in hexadecimal digits")
		} else {
			r.Fingerprint = pin
		}
	}
	if (r.Username != "") && r.Secret.Empty() {
		fault("password", "requires username")
	}
	if len(faults) > 0 {
		return nil, problem.Invalid(faults...)
	}
	return u, nil
}

// rules are those of the receiver's address. Only admins of the instance set one, and mostly within their own network.
func (s *Store) rules() outbound.Rules {
	return outbound.Rules{AllowLocal: s.AllowLocal, AllowPrivate: true}
}

// Remove ends the sending; without a receiver it is problem not_found. How far it was is forgotten.
func (s *Store) Remove(ctx context.Context) error {
	return s.DB.Tx(ctx, func(tx *db.Tx) error {
		var address string
		err := tx.Pgx.QueryRow(ctx, "DELETE FROM remote_write RETURNING url").Scan(&address)
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.New(problem.CodeNotFound, "no receiver of samples is configured")
		}
		if err != nil {
			return fmt.Errorf("removing the receiver: %w", err)
		}
		if u, err := url.Parse(address); err == nil {
			audit.Describe(ctx, func(e *audit.Entry) { e.TargetKind, e.TargetName = "receiver", u.Host })
		}
		return audit.Write(ctx, tx)
	})
}
