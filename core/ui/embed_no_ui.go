//go:build no_ui

package ui

import "io/fs"

// Files returns nil: this build has no page.
func Files() fs.FS { return nil }
