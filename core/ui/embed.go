//go:build !no_ui

package ui

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var embedded embed.FS

// Files returns the built files of the page. Before make ui has built it, they hold no document; with the build tag no_ui they are nil.
func Files() fs.FS {
	dist, err := fs.Sub(embedded, "dist")
	if err != nil {
		panic(err) // dist is a valid name
	}
	return dist
}
