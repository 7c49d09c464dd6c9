// Package requesttest is what the tests of all operations need to know of each resource: good requests, values of path parameters, and
// what is special of its reads. A resource says it in a package of its own, in the folder <resource>test below its own.
package requesttest

import (
	"net/http"

	"github.com/hostler/hostler/core/identity/identitytest"
)

// Requests are those of one resource.
type Requests struct {
	// Values makes what the resource's path parameters name, and gives their values by name; nil where the Fixture has all. What they
	// name belongs to the default team, and has the Canary in its name where it has one.
	Values func(f *Fixture) map[string]string
	// Changes are good requests to all operations that change something, in an order in which each can succeed. None may take away
	// what another resource's request needs. Nil where nothing is changed.
	Changes func(f *Fixture) []Change
	// Reads are those of which something is to be said, by operation.
	Reads map[string]Read
}

// Change is a good request that changes something.
type Change struct {
	Operation string
	// Body is JSON, or of the type Media where that is given: of an upload. "" for none.
	Body, Media string
	// Path are values of path parameters that differ from those of Values.
	Path map[string]string
	// As is who does it: an owner of the instance when nil.
	As *identitytest.Account

	// Status and Code are what it comes to where that is no success; Why says for what reason.
	Status int
	Code   string
	Why    string

	// Calling is a body with which the hypervisor is called, where Body does not lead there.
	Calling string
	// Skips says that what the body names is refused thing by thing: the request succeeds and tells of each in its member skipped.
	Skips bool
	// Nameless says that the body names nothing: it is about all that the caller may see, and of another team's things nothing is told.
	Nameless bool
	// Nulls is a body in which every field can be tried with null, where Body cannot: fields that depend on one another.
	Nulls string
	// Spoils says that it takes away what Values name, when it is asked of them: a sweep over all operations ends with it.
	Spoils bool
}

// SetHeaders gives a request the headers that it has besides those of every request.
func (c *Change) SetHeaders(r *http.Request) {
	if c.Media != "" {
		r.Header.Set("Content-Type", c.Media)
	}
}

// Read is what is special of an operation that reads.
type Read struct {
	// Status is what is answered for the Values where it is not 200.
	Status int
	// Teamless says why a read that names nothing shows nothing that belongs to a team.
	Teamless string
	// Figures says that it answers with figures over what the caller may see: a sweep holds that those of a team stay the same when
	// another team gets more, and that those of an owner do not. Without Names there is no name of anything among them.
	Figures, Names bool
	// Calling is SQL after which it comes as far as asking the hypervisor, where it does not with what the fixture has.
	Calling string
}
