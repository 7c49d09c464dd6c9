package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Pin is one registered plugin: what a program serves, and exactly which
// program it is.
type Pin struct {
	// Kind is one of the kinds of sdk/plugin, Name what the plugin calls
	// itself, Version its release.
	Kind    string `gorm:"primaryKey"`
	Name    string `gorm:"primaryKey"`
	Version string
	// File is the program's name in the plugin folder.
	File string
	// SHA256 of the file, lower-case hexadecimal.
	SHA256 string `gorm:"column:sha256"`
	// Enabled is false for a plugin that stays registered and is not started.
	Enabled bool
	// PinnedAt and PinnedBy are when and by whom it was pinned; PinnedBy is a
	// user's address or "command line".
	PinnedAt time.Time
	PinnedBy string
}

// TableName is the name of the table for gorm.
func (Pin) TableName() string { return "plugins" }

// ErrNotPinned is in the error for a pin that does not exist.
var ErrNotPinned = errors.New("this plugin is not pinned")

// PinStore stores the pins.
type PinStore interface {
	// List gives all pins by kind and name.
	List(ctx context.Context) ([]Pin, error)
	// Get gives one pin, or ErrNotPinned.
	Get(ctx context.Context, kind, name string) (Pin, error)
	// Put adds a pin or replaces the one of its kind and name.
	Put(ctx context.Context, pin Pin) error
	// Remove removes a pin, or gives ErrNotPinned.
	Remove(ctx context.Context, kind, name string) error
}

// Store is the PinStore in the table "plugins".
type Store struct{ db *db.DB }

var _ PinStore = (*Store)(nil)

// NewStore returns a Store.
func NewStore(d *db.DB) *Store { return &Store{db: d} }

// List implements PinStore.
func (s *Store) List(ctx context.Context) ([]Pin, error) {
	var pins []Pin
	if err := s.db.Gorm(ctx).Order("kind, name").Find(&pins).Error; err != nil {
		return nil, db.Problem(fmt.Errorf("listing plugins: %w", err))
	}
	return pins, nil
}

// Get implements PinStore.
func (s *Store) Get(ctx context.Context, kind, name string) (Pin, error) {
	var pin Pin
	err := s.db.Gorm(ctx).Where("kind = ? AND name = ?", kind, name).Take(&pin).Error
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound):
		return Pin{}, fmt.Errorf("%s %q: %w", kind, name, ErrNotPinned)
	case err != nil:
		return Pin{}, db.Problem(fmt.Errorf("reading a plugin: %w", err))
	}
	return pin, nil
}

// Put implements PinStore. The audit log records that a program is trusted from
// now on.
func (s *Store) Put(ctx context.Context, pin Pin) error {
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		// Without the names of all columns gorm would leave a false Enabled to
		// the column's default.
		if err := tx.Select("*").Clauses(clause.OnConflict{UpdateAll: true}).Create(&pin).Error; err != nil {
			return fmt.Errorf("writing a plugin: %w", err)
		}
		return audit.WriteEntry(tx, audit.Entry{
			ActorType: audit.ActorSystem, ActorEmail: pin.PinnedBy, Action: "plugin.pin", TargetKind: "plugin", TargetName: pin.Name,
			Result:  audit.ResultOK,
			Details: map[string]any{"kind": pin.Kind, "version": pin.Version, "sha256": pin.SHA256, "file": pin.File, "enabled": pin.Enabled},
		})
	})
}

// Remove implements PinStore and writes an audit entry.
func (s *Store) Remove(ctx context.Context, kind, name string) error {
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		done := tx.Where("kind = ? AND name = ?", kind, name).Delete(&Pin{})
		switch {
		case done.Error != nil:
			return fmt.Errorf("removing a plugin: %w", done.Error)
		case done.RowsAffected == 0:
			return fmt.Errorf("%s %q: %w", kind, name, ErrNotPinned)
		}
		return audit.WriteEntry(tx, audit.Entry{
			ActorType: audit.ActorSystem, Action: "plugin.remove", TargetKind: "plugin", TargetName: name, Result: audit.ResultOK,
			Details: map[string]any{"kind": kind},
		})
	})
}
