package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/contexts"
	"github.com/hostler/hostler/client/transport"
)

// The exit statuses. They are part of the interface: scripts tell by them what happened.
const (
	statusDone            = 0
	statusFailed          = 1
	statusUsage           = 2
	statusUnauthenticated = 3
	statusForbidden       = 4
	statusNotFound        = 5
	statusConflict        = 6
	statusInvalid         = 7
	statusServiceFailed   = 8
	statusUnreachable     = 9
	statusJobFailed       = 10
	statusJobCanceled     = 11
	statusJobUnknown      = 12
	statusStillRunning    = 13
	statusRefusedPhrase   = 14
	statusInterrupted     = 130
)

// statusTable is the part of the help that scripts rely on: an exit status
// keeps its meaning, and a new cause gets a new number.
const statusTable = `Exit status:
    0  done; with --wait also: the job succeeded
    1  failed in a way that has no other status
    2  the command line is wrong
    3  not logged in, or the key is no longer good
    4  your role, or the key's scope, does not allow it
    5  there is no such thing, or a name means several
    6  not possible now, or a phrase has to be typed
    7  a value does not fit
    8  the service or a hypervisor failed
    9  no answer from the service, or its certificate is not trusted
   10  the job failed
   11  the job was canceled
   12  nobody can tell how the job ended
   13  --timeout has passed, and the job still runs
   14  another phrase was typed than the one asked for
  130  interrupted by Ctrl-C`

// failure is an error with an exit status. An empty text says nothing: it was said already.
type failure struct {
	status int
	text   string
}

// Error gives the text alone; the status is for the process.
func (f *failure) Error() string { return f.text }

// usage is the error of a wrong command line.
func usage(c *cobra.Command, err error) error {
	return &failure{statusUsage, fmt.Sprintf("%v\n%s --help shows what it takes", err, c.CommandPath())}
}

// wrongLine is how errors of the library that reads the command line begin, which have no types.
var wrongLine = []string{"unknown command", "required flag", "accepts ", "requires at least", "if any flags in the group"}

// explain gives the exit status of an error and its words.
func explain(err error) (int, string) {
	var f *failure
	var p *transport.Problem
	var away *transport.Unreachable
	var untrusted *transport.Untrusted
	switch {
	case errors.As(err, &f):
		return f.status, f.text
	case errors.As(err, &p):
		return problemStatus(p), problemText(p)
	case errors.As(err, &untrusted):
		return statusUnreachable, untrusted.Error() + "\nIf it was renewed, log in again; the fingerprint of tls/self-signed.pem in the " +
			"state folder on the service's machine is the right one. If nobody renewed it, somebody else answers there."
	case errors.As(err, &away):
		return statusUnreachable, away.Error()
	case errors.Is(err, contexts.ErrNone):
		return statusUnauthenticated, err.Error()
	}
	for _, begin := range wrongLine {
		if strings.HasPrefix(err.Error(), begin) {
			return statusUsage, err.Error()
		}
	}
	return statusFailed, err.Error()
}

// problemStatus gives the exit status of a refusal by its HTTP status. Status
// 429 and 507 count as "not possible now": both may succeed later unchanged.
func problemStatus(p *transport.Problem) int {
	switch {
	case p.Status == 401:
		return statusUnauthenticated
	case p.Status == 403:
		return statusForbidden
	case p.Status == 404 || p.Status == 405:
		return statusNotFound
	case p.Status == 409 || p.Status == 429 || p.Status == 507:
		return statusConflict
	case p.Status >= 500:
		return statusServiceFailed
	}
	return statusInvalid
}

// problemText is a refusal in words, with what helps and how to find it again.
func problemText(p *transport.Problem) string {
	lines := []string{p.Detail}
	switch {
	case p.ConfirmPhrase != "":
		lines = append(lines, fmt.Sprintf("what helps: look with --plan, and then say --confirm %q", p.ConfirmPhrase))
	case p.Remedy != "":
		lines = append(lines, "what helps: "+p.Remedy)
	case p.Code == "unauthenticated":
		lines = append(lines, "what helps: hostler login")
	case p.Code == "plan_stale":
		lines = append(lines, "what helps: look at the new plan with --plan")
	case p.Code == "capability_missing":
		lines = append(lines, "what helps: give the host a token for it, hostler host credential --help")
	case p.Code == "forbidden":
		lines = append(lines, "what helps: hostler whoami shows your roles; ask somebody who may")
	}
	last := p.Code
	if p.RequestID != "" {
		last = strings.TrimSpace(last + " request " + p.RequestID)
	}
	if last != "" {
		lines = append(lines, "("+last+")")
	}
	return strings.Join(lines, "\n")
}
