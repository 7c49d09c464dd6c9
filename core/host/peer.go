package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// These bound the look at the peers, which a user waits for.
const (
	// peerLimit is how long the look at one peer may take.
	peerLimit = 5 * time.Second
	// maxPeerLooks bounds the peers that are asked at the same time.
	maxPeerLooks = 32
)

// Peer is another node of a host's cluster, with the result of the look at it.
type Peer struct {
	Node        string  `json:"node" example:"pve2"`
	Address     *string `json:"address" example:"192.0.2.12:8006" doc:"Address of its API: the address that the cluster reports, with the port of the host; null if the cluster reports none"`
	Fingerprint *string `json:"fingerprint" doc:"Expected fingerprint of its certificate, as the cluster reports it or the request names it; null if neither does"`
	Online      bool    `json:"online" example:"true" doc:"true if the cluster reports the node as online"`
	// Reachable and the next are of the look.
	Reachable bool     `json:"reachable" example:"true" doc:"true if it accepted the stored monitoring token over a connection with the expected certificate"`
	Version   *string  `json:"version" example:"9.2.11"`
	LatencyMS *int64   `json:"latency_ms" example:"18"`
	Missing   []string `json:"missing" doc:"Privileges that the monitoring token lacks on the node"`
	Reason    *string  `json:"reason" example:"unreachable" doc:"Why it was not contacted or did not respond; null if it responded"`
	Error     *string  `json:"error" doc:"The reason as a sentence"`
	// SeenFingerprint is what was shown instead of Fingerprint.
	SeenFingerprint *string `json:"seen_fingerprint" doc:"Fingerprint of the presented certificate if it differs from the expected one, or if none is expected; compare it on the node before you add it to tls_fingerprints"`
	Enrolled        bool    `json:"enrolled" example:"false" doc:"true if the node is a host already"`
	HostID          *int64  `json:"host_id" example:"2" doc:"ID of the node's host; null if it is not a host yet or the caller cannot see it"`
	CanEnrol        bool    `json:"can_enrol" example:"true" doc:"true if it responds and is not a host yet"`

	// shown is the certificate over which it answered.
	shown string
}

// origin is the host from which peers are looked at, with everything that a
// connection to a peer shares with it.
type origin struct {
	id, team int64
	name     string
	port     string
	connection
	cluster string
	// monitoring is the stored monitoring token.
	monitoring endpoint.Credential
}

// readOrigin reads the host and decrypts its monitoring token. Peers are asked
// at the port of the host's own address.
func (s *Store) readOrigin(ctx context.Context, id int64) (origin, error) {
	c := origin{id: id}
	err := s.db.Pool.QueryRow(ctx, `SELECT h.team_id, h.name, h.driver, h.address, h.verify_tls, COALESCE(c.name, h.server_cluster, '')
		FROM hosts h LEFT JOIN clusters c ON c.id = h.cluster_id WHERE h.id = $1`, id).
		Scan(&c.team, &c.name, &c.driver, &c.address, &c.verifyTLS, &c.cluster)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return c, noSuchHost()
	case err != nil:
		return c, db.Problem(fmt.Errorf("reading the host: %w", err))
	}
	if _, c.port, err = net.SplitHostPort(c.address); err != nil {
		return c, fmt.Errorf("reading the host's address: %w", err)
	}
	_, target, err := s.target(ctx, id, endpoint.Monitoring)
	c.monitoring = target.Credential
	return c, err
}

// Peers looks at all other nodes of the host's cluster at the same time and
// stores nothing. A peer that fails is a row with a reason, not an error. Each
// peer is asked with the host's monitoring token, and only over a connection
// with the certificate that the host names for it: a machine at the peer's
// address that is not the peer must not get the token. Problems are those of
// Ask, unsupported if the driver knows no peers.
func (s *Store) Peers(ctx context.Context, id int64) ([]Peer, error) {
	c, found, err := s.peers(ctx, id)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(p hypervisor.Peer) bool { return p.Self })
	rows := make([]Peer, len(found))
	s.eachPeer(len(found), func(i int) { rows[i] = s.checkPeer(ctx, c, found[i]) })
	return rows, s.markEnrolled(ctx, c, rows)
}

// peers asks the host for the nodes of its cluster and cleans the answer. A
// fingerprint that cannot be read counts as none.
func (s *Store) peers(ctx context.Context, id int64) (origin, []hypervisor.Peer, error) {
	found, err := Call(ctx, s, id, endpoint.Monitoring, func(ctx context.Context, l hypervisor.PeerLister) ([]hypervisor.Peer, error) {
		return l.Peers(ctx)
	})
	if err != nil {
		return origin{}, nil, err
	}
	for i := range found {
		found[i].Name, found[i].Address = Clean(found[i].Name), Clean(found[i].Address)
		if parsed, err := endpoint.ParseFingerprint(found[i].Fingerprint); err == nil {
			found[i].Fingerprint = parsed
		} else {
			found[i].Fingerprint = ""
		}
	}
	c, err := s.readOrigin(ctx, id)
	return c, found, err
}

// eachPeer calls do for 0 to n-1, at most maxPeerLooks at a time, and waits for
// all.
func (s *Store) eachPeer(n int, do func(i int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, maxPeerLooks)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	all.Wait()
}

// checkPeer asks one peer. Its address is checked like one that a user types:
// otherwise a manipulated cluster could make the service connect to its own
// machine.
func (s *Store) checkPeer(ctx context.Context, c origin, p hypervisor.Peer) Peer {
	ctx, cancel := context.WithTimeout(ctx, peerLimit)
	defer cancel()
	row := Peer{Node: p.Name, Online: p.Online, Fingerprint: orNil(p.Fingerprint), Missing: []string{}}
	fail := func(err error) Peer {
		reason, text := Reason(err)
		row.Reason, row.Error = &reason, &text
		var e *sdk.Error
		if errors.As(err, &e) && e.Kind == sdk.Untrusted {
			row.SeenFingerprint = CleanOrNil(e.Fingerprint)
		}
		return row
	}
	if p.Address == "" {
		return fail(sdk.Errorf(sdk.Unreachable, "the cluster does not report the node's address"))
	}
	address, err := ParseAddress(net.JoinHostPort(p.Address, c.port), c.port, s.allowLocal)
	if err != nil {
		return fail(sdk.Errorf(sdk.Refused, "the cluster reports an address that is not allowed: %w", err))
	}
	row.Address = &address
	at := c.at(address, p.Fingerprint)
	if p.Fingerprint == "" {
		// With a pin that no certificate has, the connection ends before anything is sent.
		at.fingerprint = impossibleFingerprint
		_, err := s.version(ctx, c.driver, s.targetOf(at, c.monitoring))
		row.SeenFingerprint = seen(err)
		return fail(sdk.Errorf(sdk.Refused, "the cluster does not report the host's certificate; specify its fingerprint in "+
			"tls_fingerprints to enrol it"))
	}
	began := time.Now()
	v, err := s.verify(ctx, c.driver, s.targetOf(at, c.monitoring))
	if err != nil {
		return fail(err)
	}
	took := time.Since(began).Milliseconds()
	row.Reachable, row.Version, row.Missing, row.LatencyMS, row.shown = true, &v.Version, v.Missing, &took, v.Fingerprint
	row.CanEnrol = true
	return row
}

// impossibleFingerprint is a fingerprint that no certificate has.
var impossibleFingerprint, _ = endpoint.ParseFingerprint(fmt.Sprintf("%064d", 0))

// seen returns the fingerprint that an untrusted endpoint showed, or nil.
func seen(err error) *string {
	var e *sdk.Error
	if errors.As(err, &e) && e.Kind == sdk.Untrusted {
		return CleanOrNil(e.Fingerprint)
	}
	return nil
}

// at is the connection to a peer. The peer's certificate is always pinned, even
// if the host's own is checked by an authority: peers are reached by IP
// addresses, which certificates rarely contain.
func (c origin) at(address, fingerprint string) connection {
	return connection{driver: c.driver, address: address, fingerprint: fingerprint, verifyTLS: c.verifyTLS}
}

// markEnrolled marks the peers that are hosts already: hosts of the same
// cluster by the name of their node, and any other host that has a node of that
// name and shows the peer's certificate. The id is shown only to callers who
// may see that host.
func (s *Store) markEnrolled(ctx context.Context, c origin, rows []Peer) error {
	var nodes []string
	for _, r := range rows {
		nodes = append(nodes, r.Node)
	}
	found, err := s.db.Pool.Query(ctx, `SELECT o.id, o.team_id, o.entry_node, COALESCE(o.tls_fingerprint, o.server_fingerprint, ''),
		o.cluster_id IS NOT DISTINCT FROM h.cluster_id AND h.cluster_id IS NOT NULL
		FROM hosts h JOIN hosts o ON o.driver = h.driver AND o.id <> h.id AND o.entry_node = ANY ($2)
		WHERE h.id = $1 ORDER BY o.id`, c.id, nodes)
	if err != nil {
		return db.Problem(fmt.Errorf("reading enrolled peers: %w", err))
	}
	type other struct {
		ID, Team          int64
		Node, Fingerprint string
		Member            bool
	}
	others, err := pgx.CollectRows(found, pgx.RowToStructByPos[other])
	if err != nil {
		return db.Problem(fmt.Errorf("reading enrolled peers: %w", err))
	}
	caller := identity.FromContext(ctx)
	for i := range rows {
		r := &rows[i]
		for _, o := range others {
			if o.Node != r.Node || !o.Member && (r.shown == "" || o.Fingerprint != r.shown) {
				continue
			}
			r.Enrolled, r.CanEnrol = true, false
			if caller == nil || caller.On(o.Team) >= identity.Viewer {
				r.HostID = &o.ID
			}
			break
		}
	}
	return nil
}

// peerProblem returns the problem of a peer that cannot be enrolled.
func peerProblem(r Peer) error {
	code := problem.CodeHypervisorError
	if r.Reason != nil && *r.Reason == ReasonTimeout {
		code = problem.CodeTimeout
	}
	p := problem.New(code, "%s", *r.Error)
	return p.With("reason", *r.Reason)
}
