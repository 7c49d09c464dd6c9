package hypervisor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// NetworkError turns what an http.Client, a net.Dialer or the reading of an answer gave into what a method of a driver
// returns. In this order:
//
//   - nil stays nil;
//   - an *Error in err is returned as it is: the certificate that TLSConfig refused, the address that DialControl did;
//   - the caller's own cancellation stays one;
//   - what took too long is Timeout;
//   - an endpoint that does not speak TLS or HTTP is Protocol;
//   - all else is Unreachable.
//
// The URL that net/http puts in front of its errors is left out of the message.
func NetworkError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("calling the hypervisor: %w", context.Canceled)
	}
	var slow net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout() {
		return Errorf(Timeout, "the hypervisor did not answer in time: %w", err)
	}
	var record tls.RecordHeaderError
	if errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch) || strings.Contains(err.Error(), "malformed HTTP") {
		return Errorf(Protocol, "the endpoint does not speak HTTPS: %w", err)
	}
	return Errorf(Unreachable, "the hypervisor cannot be reached: %w", err)
}
