// Package uploadstest has valid requests about uploads. The tests over all
// operations of the API send them; see package requesttest.
package uploadstest

import (
	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/db/dbtest"
)

// id is that of the upload of the laboratory.
const id = "upload-of-the-laboratory-1"

// Form is a form with a small file, whose boundary is in Media.
const (
	Form = "--edge\r\nContent-Disposition: form-data; name=\"content\"\r\n\r\niso\r\n" +
		"--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"small.iso\"\r\n\r\nabc\r\n--edge--\r\n"
	Media = "multipart/form-data; boundary=edge"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		dbtest.Exec(f.T, f.DB, `INSERT INTO uploads (id, host_id, storage, name, place, status)
			VALUES ($1, $2, 'local', $3, 'nowhere', 'failed') ON CONFLICT (id) DO NOTHING`, id, f.Host, requesttest.Canary+".iso")
		return map[string]string{"upload_id": id}
	},
	Changes: func(*requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{
			{Operation: "upload_content", Body: Form, Media: Media, Path: map[string]string{"name": "local"}},
		}
	},
}
