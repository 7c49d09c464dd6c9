package pve

import (
	"context"
	"time"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Member sends three requests, which every token may send. Each is forwarded to
// the node.
func (h *Host) Member(ctx context.Context, node string) (hypervisor.Member, error) {
	var about struct {
		Version pveapi.Text `json:"version"`
		Release pveapi.Text `json:"release"`
	}
	if _, err := h.askNode(ctx, &about, nil, node, "version"); err != nil {
		return hypervisor.Member{}, err
	}
	var m hypervisor.Member
	m.Version, _ = versionOf(string(about.Version), string(about.Release))
	var err error
	if m.Fingerprint, m.NotAfter, err = h.certificate(ctx, node); err != nil {
		h.log.Debug("cannot read the certificate of a node", "node", node, "error", err)
	}
	if m.Subscription, err = h.subscription(ctx, node); err != nil {
		h.log.Debug("cannot read the subscription of a node", "node", node, "error", err)
	}
	if ctx.Err() != nil {
		return hypervisor.Member{}, ctx.Err()
	}
	return m, nil
}

// certificate returns the certificate that the node's pveproxy shows: an
// uploaded one if there is one, else the cluster's.
func (h *Host) certificate(ctx context.Context, node string) (fingerprint string, end time.Time, err error) {
	rows, err := askRows[struct {
		File        pveapi.Text `json:"filename"`
		Fingerprint pveapi.Text `json:"fingerprint"`
		End         pveapi.Int  `json:"notafter"`
	}](ctx, h, nil, node, "certificates", "info")
	if err != nil {
		return "", time.Time{}, err
	}
	for _, file := range []pveapi.Text{"pveproxy-ssl.pem", "pve-ssl.pem"} {
		for _, row := range rows {
			if row.File != file || row.End.N <= 0 || row.End.N > maxTime {
				continue
			}
			if fingerprint, err = endpoint.ParseFingerprint(string(row.Fingerprint)); err != nil {
				fingerprint = ""
			}
			return fingerprint, time.Unix(row.End.N, 0).UTC(), nil
		}
	}
	return "", time.Time{}, plugin.Errorf(plugin.Protocol, "the answer has no certificate of the node")
}
