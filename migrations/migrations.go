// Package migrations holds the database's SQL, one numbered file a step, read by core/db. Files never change once they
// were released; a new step is a new file. It knows neither gorm nor any type of the product.
package migrations

import "embed"

// FS holds the numbered files in goose's format.
//
//go:embed *.sql
var FS embed.FS
