//go:build !no_ui

package ui

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var embedded embed.FS

// Files are the built files of the page; nil in a build without it (build tag no_ui).
func Files() fs.FS {
	dist, err := fs.Sub(embedded, "dist")
	if err != nil {
		panic(err) // dist is a valid name
	}
	return dist
}
