// Package requesttest describes each resource of the API for the tests that run
// over all operations: valid requests, values of path parameters, and
// exceptions of reads. Each resource has its description in a package of its
// own, in the folder <resource>test below its own.
package requesttest

import (
	"net/http"

	"github.com/hostler/hostler/core/identity/identitytest"
)

// Requests describes the requests of one resource.
type Requests struct {
	// Values creates what the path parameters of the resource name, and returns
	// their values by name. It is nil if the Fixture already has everything.
	// The things belong to the default team, and those with a name have the
	// Canary in it.
	Values func(f *Fixture) map[string]string
	// Changes returns valid requests to all operations that change something,
	// in an order in which each can succeed. No request may remove what the
	// request of another resource needs. It is nil if the resource changes
	// nothing.
	Changes func(f *Fixture) []Change
	// Reads describes the operations that read and are special in some way, by
	// the ID of the operation.
	Reads map[string]Read
}

// Change is a valid request that changes something.
type Change struct {
	Operation string
	// Body is JSON, or of the media type Media if that is set, which uploads
	// need. It is "" for a request without a body.
	Body, Media string
	// Path has the values of path parameters that differ from those of Values.
	Path map[string]string
	// As is the account that makes the request. It is an owner of the instance
	// if nil.
	As *identitytest.Account

	// Status and Code are the expected answer if the request does not succeed,
	// and Why is the reason.
	Status int
	Code   string
	Why    string

	// Calling is a body that makes the operation call the hypervisor, if Body does
	// not.
	Calling string
	// Skips says that things which the body names are refused one by one: the
	// request succeeds and lists them in its member skipped.
	Skips bool
	// Nameless says that the body names nothing. The operation works on all
	// that the caller can see, and its answer must not mention things of
	// another team.
	Nameless bool
	// Nulls is a body in which each field can be replaced by null, if Body is
	// not suitable because its fields depend on one another.
	Nulls string
	// Spoils says that the request removes what Values has created. The tests
	// make such requests last.
	Spoils bool
}

// SetHeaders sets the headers that this request has in addition to those of
// every request.
func (c *Change) SetHeaders(r *http.Request) {
	if c.Media != "" {
		r.Header.Set("Content-Type", c.Media)
	}
}

// Read describes what is special about an operation that reads.
type Read struct {
	// Status is the status of the answer for the Values, if it is not 200.
	Status int
	// Teamless is the reason why a read that names nothing shows nothing that
	// belongs to a team.
	Teamless string
	// Figures says that the answer has figures over what the caller can see. A
	// test checks that the figures of one team stay the same when another team
	// gets more, and that those of an owner change. Names says that names are
	// among them.
	Figures, Names bool
	// Calling is SQL that prepares the database so that the operation calls the
	// hypervisor, if the fixture does not suffice.
	Calling string
}
