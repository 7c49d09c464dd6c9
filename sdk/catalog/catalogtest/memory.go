package catalogtest

import (
	"context"

	"github.com/hostler/hostler/sdk/catalog"
)

// Memory is a source of fixed entries.
type Memory []catalog.Entry

// Info implements catalog.Source.
func (Memory) Info(context.Context) (catalog.Info, error) {
	return catalog.Info{Name: "mem", Version: "1.0.0"}, nil
}

// Entries implements catalog.Source.
func (m Memory) Entries(ctx context.Context, each func(catalog.Entry) error) error {
	for _, e := range m {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}
