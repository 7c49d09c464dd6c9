//go:build race

package updater

func init() { raced = true }
