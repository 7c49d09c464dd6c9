package updater

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

// tarballName is the tarball in quarantine, until it is verified and unpacked.
const tarballName = "release.tar.gz"

// download fetches manifest, signature and tarball into the quarantine. The
// manifest is verified before the tarball is requested: only a trusted key
// decides what is downloaded, and how much of it.
func (r *run) download(ctx context.Context, only string) error {
	source, err := r.source()
	if err != nil {
		return err
	}
	if err := r.overdueKeys(); err != nil {
		return err
	}
	keys, err := release.TrustedKeys(r.cfg.Layout.Keys)
	if err != nil {
		return err
	}
	m, raw, _, err := release.Latest(ctx, source, keys)
	if err != nil {
		return err
	}
	if err := m.CheckDate(r.cfg.Now()); err != nil {
		return err
	}
	if err := m.CheckChannel(r.cfg.Channel); err != nil {
		return fmt.Errorf("%w: %w", ErrUpToDate, err)
	}
	seen, err := r.cfg.Layout.loadSeen()
	if err != nil {
		return err
	}
	if err := seen.Accept(m, raw); err != nil {
		return err
	}
	if err := m.CheckUpgrade(r.plan.From, r.cfg.Channel); err != nil {
		return fmt.Errorf("%w: %w", ErrUpToDate, err)
	}
	if only != "" && only != m.Version {
		return fmt.Errorf("%w: requested %s, but the newest is %s", ErrUpToDate, only, m.Version)
	}
	file, err := m.Tarball(r.cfg.Architecture)
	if err != nil {
		return err
	}
	r.tarball, r.plan.To = true, m.Version
	// It is stored before it is used: a crash must not make an older manifest
	// valid again.
	if err := r.cfg.Layout.storeSeen(seen); err != nil {
		return err
	}
	if err := installation.WriteFile(filepath.Join(r.cfg.Layout.backup(r.id), manifestName), raw, 0o600); err != nil {
		return fmt.Errorf("storing the manifest: %w", err)
	}
	quarantine, err := r.cfg.Layout.makeQuarantine(r.id)
	if err != nil {
		return err
	}
	return release.Download(ctx, source, file, filepath.Join(quarantine, tarballName), nil)
}
