package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"github.com/hostler/hostler/sdk/plugin"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
)

// NetworkError turns an error of an http.Client, a net.Dialer or the reading of a
// response into the error that a driver's method returns. In this order:
//
//   - nil stays nil;
//   - a *plugin.Error in err is returned: a certificate that TLSConfig refused, or
//     an address that DialControl refused;
//   - a cancellation by the caller stays context.Canceled, so that it is not
//     reported as a failure of the host;
//   - an expired deadline or a network timeout is Timeout;
//   - a server that does not speak TLS or HTTP is Protocol;
//   - everything else is Unreachable.
//
// The message is a sentence for the administrator of the hypervisor. It does not
// contain the texts of Go's packages, which name local ports, the URL and the
// resolver. These are in the cause, which only the plugin's log shows.
func NetworkError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var known *plugin.Error
	if errors.As(err, &known) {
		return known
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("calling the hypervisor: %w", context.Canceled)
	}
	var slow net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(ctx.Err(), context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return (&plugin.Error{Kind: plugin.Timeout, Message: "the host did not answer in time"}).WithCause(err)
	case foreign(err):
		return (&plugin.Error{Kind: plugin.Protocol, Message: "the server at this address does not speak HTTPS"}).WithCause(err)
	}
	return (&plugin.Error{Kind: plugin.Unreachable, Message: sentence(err)}).WithCause(err)
}

// foreign reports whether the other side speaks something other than HTTPS. The
// HTTP package has no typed error for a malformed response, so the text is
// compared.
func foreign(err error) bool {
	var record tls.RecordHeaderError
	return errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch) || strings.Contains(err.Error(), "malformed HTTP")
}

// sentence describes a broken or refused connection.
func sentence(err error) string {
	var name *net.DNSError
	if errors.As(err, &name) {
		if name.IsNotFound {
			return "the name " + name.Name + " has no address"
		}
		return "the name " + name.Name + " could not be resolved"
	}
	var alert tls.AlertError
	if errors.As(err, &alert) {
		return "the host refused the TLS connection: " + strings.TrimPrefix(alert.Error(), "tls: ")
	}
	switch {
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return "the headers of the host's answer are too large"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the host closed the connection before its answer was complete"
	case errors.Is(err, io.EOF), strings.Contains(err.Error(), "server closed idle connection"):
		return "the host closed the connection without an answer"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the host refused the connection: nothing listens on this port"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the host reset the connection"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the network has no route to the host"
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		return "the connection to the host failed: " + call.Err.Error()
	}
	return "the connection to the host failed"
}
