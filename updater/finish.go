package updater

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

// manifestName is the verified manifest, kept with the run's backup.
const manifestName = "manifest.json"

// finish cleans up after an update that is healthy. Nothing in it can undo the
// update; what fails is logged and repeated by the next run.
func (r *run) finish(ctx context.Context) {
	if err := r.cfg.Database.drop(ctx, r.beforeDatabase()); err != nil {
		r.log.Warn("cannot drop the copy of the old database; the next run retries", "error", err)
	}
	r.hook("copy dropped")
	if err := r.cfg.Layout.pointUpdater(r.plan.To); err != nil {
		r.log.Warn("cannot switch to the new updater; the old one stays in use", "error", err)
	}
	r.hook("updater switched")
	if err := r.changeKeys(r.id); err != nil {
		r.log.Error("cannot apply the release's changes of the trusted keys", "error", err)
	}
	r.hook("keys changed")
	if err := r.pruneReleases(); err != nil {
		r.log.Warn("cannot remove an old release; the next run retries", "error", err)
	}
	if err := r.keepNewest(); err != nil {
		r.log.Warn("cannot remove an old backup; the next run retries", "error", err)
	}
	r.clean(ctx)
	r.hook("finished")
}

// overdueKeys changes the keys for the installed release if its own run could
// not: a withdrawn key must not decide about the next release.
func (r *run) overdueKeys() error {
	done, err := r.lastDone()
	if err != nil || done == nil {
		return err
	}
	if err := r.changeKeys(done.Run); err != nil {
		return fmt.Errorf("applying the changes of the trusted keys in release %s: %w", done.Plan.To, err)
	}
	return nil
}

// changeKeys adds and removes trusted keys as the release of a run says, once.
// It never leaves the folder without a key.
func (r *run) changeKeys(of string) error {
	path := filepath.Join(r.cfg.Layout.backup(of), manifestName)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a package brings its keys as files; or it was done
	}
	if err != nil {
		return fmt.Errorf("reading the run's manifest: %w", err)
	}
	m, err := release.ParseManifest(raw)
	if err != nil {
		return err
	}
	for _, text := range m.Keys {
		key, err := release.ParseKey([]byte(text))
		if err != nil {
			return err
		}
		if err := installation.WriteFile(filepath.Join(r.cfg.Layout.Keys, key.ID+release.KeySuffix), []byte(text), 0o644); err != nil {
			return fmt.Errorf("adding the key %s: %w", key.ID, err)
		}
		r.log.Info("added a trusted key", "key", key.ID)
		r.hook("key added")
	}
	if err := r.withdrawKeys(m.Withdrawn); err != nil {
		return err
	}
	// From here on the keys are the administrator's: the file is never applied
	// again.
	if err := os.Rename(path, path+".done"); err != nil {
		return fmt.Errorf("recording that the keys were changed: %w", err)
	}
	return nil
}

// withdrawKeys removes keys of signers that a release withdraws. It refuses to
// remove the last one: no release could be verified any more.
func (r *run) withdrawKeys(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	keys, err := release.TrustedKeys(r.cfg.Layout.Keys)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(keys, func(k release.Key) bool { return !slices.Contains(ids, k.ID) }) {
		return errors.New("the release withdraws every key that is trusted here")
	}
	entries, err := os.ReadDir(r.cfg.Layout.Keys)
	if err != nil {
		return fmt.Errorf("reading the trusted keys: %w", err)
	}
	for _, entry := range entries {
		path := filepath.Join(r.cfg.Layout.Keys, entry.Name())
		if filepath.Ext(path) != release.KeySuffix {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("reading a trusted key: %w", err)
		}
		if key, err := release.ParseKey(text); err != nil || !slices.Contains(ids, key.ID) {
			continue
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("withdrawing a key: %w", err)
		}
		r.log.Info("removed a trusted key", "file", entry.Name())
	}
	return nil
}

// pruneReleases removes all releases except the present one, the one before it,
// and the newest of the others.
func (r *run) pruneReleases() error {
	installed, err := r.cfg.Layout.installed()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(r.cfg.Layout.releases())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("listing old releases: %w", err)
	}
	var old []string
	for _, e := range entries {
		keep := []string{installed, r.plan.From, r.cfg.Layout.updaterVersion()}
		if e.IsDir() && installation.ValidVersion(e.Name()) && !slices.Contains(keep, e.Name()) {
			old = append(old, e.Name())
		}
	}
	slices.SortFunc(old, release.Compare)
	for _, version := range old[:max(0, len(old)-r.cfg.KeepReleases)] {
		if err := os.RemoveAll(r.cfg.Layout.release(version)); err != nil {
			return fmt.Errorf("removing the release %s: %w", version, err)
		}
	}
	return nil
}
