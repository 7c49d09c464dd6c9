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
	// statusDone is success. With --wait it also means that all jobs succeeded.
	statusDone = 0
	// statusFailed is any error without a status of its own, such as a file
	// that cannot be written.
	statusFailed = 1
	// statusUsage is a wrong command line. No request that changes something
	// was sent.
	statusUsage = 2
	// statusUnauthenticated means that the user must log in again.
	statusUnauthenticated = 3
	// statusForbidden means that the role of the user or the scopes of the API
	// key do not suffice.
	statusForbidden = 4
	// statusNotFound means that the object does not exist, is not visible to
	// the user, or that its name is ambiguous.
	statusNotFound = 5
	// statusConflict means that the operation is not possible now: the state of
	// the object, a missing confirmation, a rate limit or a full disk.
	statusConflict = 6
	// statusInvalid means that the service refused a value.
	statusInvalid = 7
	// statusServiceFailed means that the service or a hypervisor behind it
	// failed (HTTP status 5xx).
	statusServiceFailed = 8
	// statusUnreachable means that no response arrived, or that the certificate
	// of the service is not trusted. A change may or may not have taken effect.
	statusUnreachable = 9
	// The statuses 10 to 12 report the result of a job with --wait.
	statusJobFailed   = 10
	statusJobCanceled = 11
	statusJobUnknown  = 12
	// statusStillRunning means that --timeout expired. The job goes on.
	statusStillRunning = 13
	// statusRefusedPhrase means that the person typed another text than the
	// confirmation phrase. Nothing was changed.
	statusRefusedPhrase = 14
	// statusInterrupted is 128 plus the number of SIGINT, as shells report it.
	// A job that was started goes on.
	statusInterrupted = 130
)

// statusTable is the part of the help that scripts rely on: an exit status
// keeps its meaning, and a new cause gets a new number.
const statusTable = `Exit status:
    0  success; with --wait, the job succeeded
    1  any other error
    2  invalid command line
    3  not logged in, or the API key has expired or was revoked
    4  permission denied: your role or the scope of the API key
    5  not found, or the name is ambiguous
    6  not possible in the current state, or confirmation required
    7  invalid value
    8  the service or a hypervisor failed
    9  the service is unreachable, or its certificate is not trusted
   10  the job failed
   11  the job was canceled
   12  the result of the job is unknown
   13  --timeout expired; the job is still running
   14  wrong confirmation phrase
  130  interrupted by Ctrl-C`

// failure is an error with an exit status. An empty text prints nothing, for
// errors whose details were printed before.
type failure struct {
	status int
	text   string
}

// Error gives the text alone; the status is for the process.
func (f *failure) Error() string { return f.text }

// usage returns the error of a wrong command line, with a hint to the help of
// the command.
func usage(c *cobra.Command, err error) error {
	return &failure{statusUsage, fmt.Sprintf("%v\nSee %s --help", err, c.CommandPath())}
}

// wrongLine lists how the errors of cobra about the command line begin. Cobra
// does not export types for them, so the text is the only way to tell them from
// other errors.
var wrongLine = []string{"unknown command", "required flag", "accepts ", "requires at least", "if any flags in the group"}

// explain returns the exit status and the text of an error. An untrusted
// certificate gets an explanation of how to compare fingerprints, because it
// can be a renewed certificate or an attack.
func explain(err error) (int, string) {
	var f *failure
	var p *transport.Problem
	var away *transport.UnreachableError
	var untrusted *transport.UntrustedError
	switch {
	case errors.As(err, &f):
		return f.status, f.text
	case errors.As(err, &p):
		return problemStatus(p), problemText(p)
	case errors.As(err, &untrusted):
		return statusUnreachable, untrusted.Error() + "\nIf it was renewed, log in again and compare the fingerprint with that of " +
			"tls/self-signed.pem in the service's state folder. If it was not renewed, someone may intercept the connection."
	case errors.As(err, &away):
		return statusUnreachable, away.Error()
	case errors.Is(err, contexts.ErrNotLoggedIn):
		return statusUnauthenticated, err.Error()
	}
	for _, begin := range wrongLine {
		if strings.HasPrefix(err.Error(), begin) {
			return statusUsage, err.Error()
		}
	}
	return statusFailed, err.Error()
}

// problemStatus returns the exit status of a refusal by its HTTP status. 429
// (too many requests) and 507 (insufficient storage) count as "not possible
// now": the same request can succeed later. 405 counts as "not found": the
// service does not have that operation.
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

// problemText returns a refusal as text: the detail, a hint if there is one,
// and the code with the ID of the request in parentheses. Administrators find
// the request by that ID in the log of the service. The remedy of the service
// wins over the hints of the client.
func problemText(p *transport.Problem) string {
	lines := []string{p.Detail}
	switch {
	case p.ConfirmPhrase != "":
		lines = append(lines, fmt.Sprintf("hint: review the plan with --plan, then add --confirm %q", p.ConfirmPhrase))
	case p.Remedy != "":
		lines = append(lines, "hint: "+p.Remedy)
	case p.Code == "unauthenticated":
		lines = append(lines, "hint: log in with hostler login")
	case p.Code == "plan_stale":
		lines = append(lines, "hint: review the new plan with --plan")
	case p.Code == "capability_missing":
		lines = append(lines, "hint: add a token for this capability; see hostler host credential --help")
	case p.Code == "forbidden":
		lines = append(lines, "hint: hostler whoami shows your roles")
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
