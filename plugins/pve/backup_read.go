package pve

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// BackupContent implements hypervisor.BackupReader. It reads the configuration
// in the backup with one request. A restore over a VM keeps volumes that are
// not in the backup as unused disks; a restore over a container destroys all of
// its volumes.
func (h *Host) BackupContent(ctx context.Context, b hypervisor.Backup) (hypervisor.BackupContent, error) {
	if err := checkBackup(b.ID, b.Storage); err != nil {
		return hypervisor.BackupContent{}, err
	}
	config, err := h.backedUp(ctx, b.Node, b)
	if err != nil {
		return hypervisor.BackupContent{}, h.explain(ctx, b.Node, volumeError(err))
	}
	content := hypervisor.BackupContent{Disks: config.Disks, Keeps: b.Kind == hypervisor.VM}
	for _, d := range config.Disks {
		if d.Local && b.Kind == hypervisor.Container && content.Refused == "" {
			content.Refused = fmt.Sprintf("it contains %s, a directory or device of the node, which only root@pam can restore; use pct "+
				"restore on the node", d.Key)
		}
	}
	return content, nil
}

// backedUp reads the configuration in a backup through a node.
func (h *Host) backedUp(ctx context.Context, node string, b hypervisor.Backup) (hypervisor.Config, error) {
	path, err := nodePath(node, backupTask, "extractconfig")
	if err != nil {
		return hypervisor.Config{}, err
	}
	var text pveapi.Text
	if _, err := h.api.Get(ctx, path, url.Values{"volume": {b.ID}}, &text); err != nil {
		return hypervisor.Config{}, err
	}
	var rows []configRow
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "[") { // of snapshots and what is pending
			break
		}
		key, value, found := strings.Cut(line, ":")
		if found && !strings.HasPrefix(line, "#") {
			rows = append(rows, configRow{Key: pveapi.Text(key), Value: pveapi.Text(strings.TrimSpace(value))})
		}
	}
	return configOf(hypervisor.GuestRef{Kind: b.Kind, ID: b.Guest}, rows), nil
}
