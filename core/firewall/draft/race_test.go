//go:build race

package draft_test

func init() { raced = true }
