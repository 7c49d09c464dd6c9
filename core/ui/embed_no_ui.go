//go:build no_ui

package ui

import "io/fs"

// Files are the built files of the page; nil in a build without it (build tag no_ui).
func Files() fs.FS { return nil }
