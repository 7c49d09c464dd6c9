// Package migrations contains the SQL of the database schema, one numbered file per step, which core/db reads. A released file never
// changes; a new step is a new file. The package depends neither on gorm nor on types of the product.
package migrations

import "embed"

// FS contains the numbered files in goose's format.
//
//go:embed *.sql
var FS embed.FS
