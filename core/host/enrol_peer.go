package host

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// EnrolledPeer is the result for one node of a request to add peers.
type EnrolledPeer struct {
	Node string `json:"node" example:"pve2"`
	// HostID and the two after it are of the new host; for already_enrolled HostID is the one there was, for who sees it.
	HostID       *int64   `json:"host_id" example:"2" doc:"ID of the new host, or of the existing host on this node; null otherwise"`
	Name         *string  `json:"name" example:"pve2" doc:"Name of the host: the name of the node, prefixed with the name of the first host if it is taken"`
	Capabilities []string `json:"capabilities" example:"[\"monitoring\",\"lifecycle\"]" doc:"Capabilities whose tokens the node accepted"`
	// Error and the next say why not.
	Error  *string `json:"error" example:"already_enrolled" doc:"Error id; null if the node was enrolled"`
	Detail *string `json:"detail" doc:"Why it was not enrolled, or which tokens the node rejected"`
	Reason *string `json:"reason" example:"unreachable" doc:"Reason, as in GET peers; null if the node was enrolled or not contacted"`
	// Missing and the two after it are told where a token lacks privileges that are needed to enrol.
	Missing []string `json:"missing" doc:"Missing privileges that prevented the enrolment"`
	Path    *string  `json:"path" example:"/" doc:"Path on which the privileges are missing"`
	Remedy  *string  `json:"remedy" doc:"Command that grants the missing privileges"`
}

// fail fills in the row from a problem.
func (r *EnrolledPeer) fail(err error) {
	p := problem.From(err)
	code, detail := string(p.Code), p.Detail
	r.Error, r.Detail = &code, &detail
	if reason, is := p.Members["reason"].(string); is {
		r.Reason = &reason
	} else if p.Code == problem.CodeTimeout || p.Code == problem.CodePluginUnavailable {
		reason, _ := Reason(err)
		r.Reason = &reason
	}
	if id, is := p.Members["host_id"].(int64); is {
		r.HostID = &id
	}
	if missing, is := p.Members["missing"].([]string); is {
		r.Missing = cleanAll(missing)
	}
	if path, is := p.Members["path"].(string); is {
		r.Path = CleanOrNil(path)
	}
	if remedy, is := p.Members["remedy"].(string); is {
		r.Remedy = CleanOrNil(remedy)
	}
}

// EnrolPeers adds the named nodes of a host's cluster as hosts of the same
// team, each with a copy of the host's tokens. It does not copy consent, SSH
// keys and the permission for node shells. Each node is added separately as by
// Create, and its failure is its row. If the host does not report the nodes of
// its cluster, all rows fail. The argument fingerprints contains certificates
// for nodes for which the cluster reports none, or a wrong one; a name that is
// not among the nodes is invalid.
func (s *Store) EnrolPeers(ctx context.Context, id int64, nodes []string, fingerprints map[string]string) ([]EnrolledPeer, error) {
	pins := map[string]string{}
	for node, text := range fingerprints {
		parsed, err := fingerprint(text)
		if err != nil || parsed == "" {
			return nil, problem.InvalidField("must be the SHA-256 fingerprint of a certificate: 32 bytes in hexadecimal, with or "+
				"without colons", "fingerprint",
				"body", "tls_fingerprints", node)
		}
		if !slices.Contains(nodes, node) {
			return nil, problem.InvalidField("is not one of the nodes", "value_error", "body", "tls_fingerprints", node)
		}
		pins[node] = parsed
	}
	c, found, untold := s.peers(ctx, id)
	// These failures concern the hypervisor and belong into the rows. Any other
	// one ends the request.
	switch problem.CodeOf(untold) {
	case problem.CodeHypervisorError, problem.CodeTimeout, problem.CodePluginUnavailable:
	default:
		if untold != nil {
			return nil, untold
		}
	}
	tokens, err := s.copies(ctx, id)
	if err != nil {
		return nil, err
	}
	rows := make([]EnrolledPeer, len(nodes))
	s.eachPeer(len(nodes), func(i int) {
		r := &rows[i]
		r.Node, r.Capabilities, r.Missing = nodes[i], []string{}, []string{}
		if untold != nil {
			r.fail(untold)
			return
		}
		at := slices.IndexFunc(found, func(p hypervisor.Peer) bool { return p.Name == nodes[i] })
		switch {
		case at < 0:
			r.fail(problem.New(problem.CodeNotFound, "the cluster does not have this node"))
		case slices.Index(nodes, nodes[i]) < i:
			r.fail(problem.New(problem.CodeConflict, "the node is listed twice"))
		case found[at].Self:
			r.fail(problem.New(problem.CodeAlreadyEnrolled, "this is the node of the host itself").With("host_id", id))
		default:
			p := found[at]
			if pin := pins[p.Name]; pin != "" {
				p.Fingerprint = pin
			}
			if err := s.enrolPeer(ctx, c, p, tokens, r); err != nil {
				r.fail(err)
			}
		}
	})
	refused := map[string]string{}
	for _, r := range rows {
		if r.Error != nil {
			refused[r.Node] = *r.Error
		}
	}
	audit.Describe(ctx, func(entry *audit.Entry) {
		entry.Detail("nodes", len(nodes))
		entry.Detail("refused", refused)
	})
	return rows, s.db.Tx(ctx, func(tx *db.Tx) error { return audit.Write(ctx, tx) })
}

// copies returns the host's tokens, decrypted.
func (s *Store) copies(ctx context.Context, id int64) ([]endpoint.Credential, error) {
	h, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	var all []endpoint.Credential
	for _, token := range s.supportedCredentials(ctx, h) {
		_, target, err := s.target(ctx, id, endpoint.Capability(token.Key))
		if err != nil {
			return nil, err
		}
		all = append(all, target.Credential)
	}
	return all, nil
}

// enrolPeer looks at one peer, tries every token there, and stores the host
// with those that were accepted. Only a failure of the monitoring token refuses
// the host.
func (s *Store) enrolPeer(ctx context.Context, c origin, p hypervisor.Peer, tokens []endpoint.Credential, r *EnrolledPeer) error {
	looked := []Peer{s.checkPeer(ctx, c, p)}
	if err := s.markEnrolled(ctx, c, looked); err != nil {
		return err
	}
	if looked[0].Enrolled {
		refusal := problem.New(problem.CodeAlreadyEnrolled, "the node is already a host")
		if looked[0].HostID != nil {
			return refusal.With("host_id", *looked[0].HostID)
		}
		return refusal
	}
	if !looked[0].Reachable {
		return peerProblem(looked[0])
	}
	e := c.at(*looked[0].Address, p.Fingerprint)
	d, err := s.describe(ctx, e.driver)
	if err != nil {
		return err
	}
	found, errs := s.verifyEach(ctx, d, e, tokens)
	var monitoring Verification
	var taken []checkedToken
	var untaken []string
	for i, token := range tokens {
		switch {
		case errs[i] == nil:
			taken = append(taken, checkedToken{token, found[i]})
			if token.Capability == endpoint.Monitoring {
				monitoring = found[i]
			}
		case token.Capability == endpoint.Monitoring:
			return rejected(errs[i])
		default:
			_, text := Reason(errs[i])
			untaken = append(untaken, fmt.Sprintf("the token for %s was not accepted: %s", token.Capability, text))
		}
	}
	r.Detail = orNil(strings.Join(untaken, "; "))
	target := s.targetOf(e, c.monitoring)
	server, err := s.identify(ctx, e.driver, target, monitoring)
	if err != nil {
		return rejected(err)
	}
	// An address that leads to another node would give that node two hosts, and
	// this one none.
	if server.node != "" && server.node != p.Name {
		return problem.New(problem.CodeConflict, "another node answers at the node's address: %s", server.node)
	}
	now, err := s.renewed(ctx, server, 0)
	if err != nil {
		return err
	}
	return s.keepPeer(ctx, c, e, server, now, taken, r)
}

// keepPeer stores the new host with its tokens and its audit row, all or
// nothing.
func (s *Store) keepPeer(ctx context.Context, c origin, e connection, found server, now map[int64]string, tokens []checkedToken,
	r *EnrolledPeer) error {
	var id int64
	var called string
	var all []access
	for _, token := range tokens {
		all = append(all, access{capability: token.Capability, credential: token.Credential})
	}
	own := audit.BeginAnother(ctx, func(entry *audit.Entry) {
		entry.Action, entry.TargetKind, entry.TargetID, entry.TargetName, entry.HostID = "host.create", "host", "", r.Node, nil
		entry.Details = map[string]any{"address": e.address, "driver": e.driver, "peer_of": c.id}
	})
	err := s.db.Tx(own, func(tx *db.Tx) error {
		if err := refuseDuplicate(own, tx, found, 0, now); err != nil {
			return err
		}
		if err := db.CheckRowLimit(own, tx, "hosts", "hosts", MaxHosts); err != nil {
			return err
		}
		var err error
		if called, err = peerName(own, tx, c, r.Node); err != nil {
			return err
		}
		version := ""
		for _, token := range tokens {
			if token.Capability == endpoint.Monitoring {
				version = token.Version
			}
		}
		err = tx.Pgx.QueryRow(own, `INSERT INTO hosts (team_id, driver, name, address, tls_fingerprint, verify_tls, version, entry_node)
			SELECT team_id, $2, $3, $4, $5, $6, $7, $8 FROM hosts WHERE id = $1 FOR SHARE RETURNING id`,
			c.id, e.driver, called, e.address, e.fingerprint, e.verifyTLS, version, r.Node).Scan(&id)
		if err != nil {
			return taken(err)
		}
		if err := keepServer(own, tx, id, found); err != nil {
			return err
		}
		if err := s.storeCredentials(own, tx, id, tokens); err != nil {
			return err
		}
		audit.Describe(own, func(entry *audit.Entry) {
			entry.TargetID, entry.TargetName, entry.HostID = fmt.Sprint(id), called, &id
			describeTokens(entry, all)
		})
		return audit.Write(own, tx)
	})
	if err != nil {
		return err
	}
	r.HostID, r.Name = &id, &called
	for _, token := range tokens {
		r.Capabilities = append(r.Capabilities, string(token.Capability))
	}
	return nil
}

// peerName returns the node's name, or that name after the first host's if
// another host has it.
func peerName(ctx context.Context, tx *db.Tx, c origin, node string) (string, error) {
	for _, called := range []string{node, c.name + "-" + node} {
		if _, err := name(called); err != nil {
			continue
		}
		var used bool
		if err := tx.Pgx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM hosts WHERE name = $1)", called).Scan(&used); err != nil {
			return "", fmt.Errorf("choosing a name: %w", err)
		}
		if !used {
			return called, nil
		}
	}
	return "", conflict("name")
}
