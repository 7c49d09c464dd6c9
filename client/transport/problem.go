package transport

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Problem is a refusal of the service, in its words.
type Problem struct {
	// Status is that of HTTP, and Code the member error, which is empty when somebody else than the service has answered.
	Status int
	Code   string
	// Detail is a sentence, or one for each fault of the input.
	Detail string
	// Remedy says what helps, where the service does.
	Remedy string
	// RequestID finds the request in the service's log and audit log.
	RequestID string
	// ConfirmPhrase is what has to be typed, of a confirmation that is asked for.
	ConfirmPhrase string
	// Members are further ones, such as capability.
	Members map[string]json.RawMessage
}

func newProblem(status int, header http.Header, body []byte, host string) *Problem {
	p := &Problem{Status: status, RequestID: header.Get("X-Request-Id")}
	var in struct {
		Detail        json.RawMessage `json:"detail"`
		Error         string          `json:"error"`
		Remedy        string          `json:"remedy"`
		RequestID     string          `json:"request_id"`
		ConfirmPhrase string          `json:"confirm_phrase"`
	}
	if json.Unmarshal(body, &in) != nil || in.Error == "" {
		p.Detail = fmt.Sprintf("unexpected response from %s: %d %s; check the address", host, status, http.StatusText(status))
		return p
	}
	p.Code, p.Remedy, p.ConfirmPhrase, p.Detail = in.Error, in.Remedy, in.ConfirmPhrase, faults(in.Detail)
	if in.RequestID != "" {
		p.RequestID = in.RequestID
	}
	_ = json.Unmarshal(body, &p.Members) // it is an object: it was read above
	return p
}

// faults are the sentences of a detail, which is one or a list of what is wrong with the input.
func faults(detail json.RawMessage) string {
	var text string
	if json.Unmarshal(detail, &text) == nil {
		return text
	}
	var list []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	if json.Unmarshal(detail, &list) != nil || len(list) == 0 {
		return "the service gave no reason"
	}
	lines := make([]string, len(list))
	for i, fault := range list {
		var where []string
		for j, part := range fault.Loc {
			if j > 0 || len(fault.Loc) == 1 { // the first says body, query or path
				where = append(where, fmt.Sprint(part))
			}
		}
		lines[i] = strings.Join(where, ".") + ": " + fault.Msg
	}
	return strings.Join(lines, "\n")
}

func (p *Problem) Error() string { return p.Detail }

// UnreachableError says that there was no whole answer.
type UnreachableError struct {
	URL string
	Err error
}

func (u *UnreachableError) Error() string {
	return fmt.Sprintf("no response from %s: %v", u.URL, u.Err)
}

func (u *UnreachableError) Unwrap() error { return u.Err }

// UntrustedError says that the certificate is not the one that was pinned. Seen is empty when there was none.
type UntrustedError struct{ Want, Seen string }

func (u *UntrustedError) Error() string {
	return fmt.Sprintf("the certificate of the service is not the pinned one\n  pinned     %s\n  presented  %s", u.Want, u.Seen)
}

// untrusted says that an error is about the certificate.
func untrusted(err error) bool {
	var pinned *UntrustedError
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	return errors.As(err, &pinned) || errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host)
}

// unreachable tells what went wrong without the request's URL, whose query may hold a ticket.
func (c *Client) unreachable(err error) error {
	var pinned *UntrustedError
	if errors.As(err, &pinned) {
		return pinned
	}
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return &UnreachableError{URL: c.options.URL.Host, Err: err}
}
