package pveapi

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// netError says what went wrong between us and the hypervisor, in words for the one who looks after it. The caller's own
// cancellation stays what it is.
func (c *Client) netError(ctx context.Context, err error) error {
	var known *hypervisor.Error
	if errors.As(err, &known) {
		return known // the certificate or the address
	}
	if errors.Is(context.Cause(ctx), errStalled) {
		return hypervisor.Errorf(hypervisor.Timeout, "%w", errStalled)
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return context.Canceled
	}
	var slow net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout() {
		return &hypervisor.Error{Kind: hypervisor.Timeout, Message: "the host did not answer in time"}
	}
	if strange(err) {
		return &hypervisor.Error{Kind: hypervisor.Protocol, Message: "something else than Proxmox VE answers at this address: it does not speak HTTPS"}
	}
	return &hypervisor.Error{Kind: hypervisor.Unreachable, Message: c.scrub(sentence(err))}
}

// sentence tells a broken or refused connection without the words of Go's packages, which name our own ports and the
// resolver.
func sentence(err error) string {
	var name *net.DNSError
	if errors.As(err, &name) {
		if name.IsNotFound {
			return "the name " + name.Name + " has no address"
		}
		return "the name " + name.Name + " could not be looked up"
	}
	var alert tls.AlertError
	if errors.As(err, &alert) {
		return "the host refused the TLS connection: " + strings.TrimPrefix(alert.Error(), "tls: ")
	}
	switch {
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return "the host's answer has headers without end"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the host closed the connection in the middle of its answer"
	case errors.Is(err, io.EOF), strings.Contains(err.Error(), "server closed idle connection"):
		return "the host closed the connection without an answer"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the host refused the connection: nothing listens on this port"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the host broke the connection off"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no way to the host through the network"
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		return "the connection to the host failed: " + call.Err.Error()
	}
	return "the connection to the host failed"
}

// strange reports whether the other side speaks something else than HTTPS.
func strange(err error) bool {
	var record tls.RecordHeaderError
	return errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch) || strings.Contains(err.Error(), "malformed HTTP")
}
