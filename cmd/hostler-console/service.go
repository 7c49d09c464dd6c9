package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/client/contexts"
	"github.com/hostler/hostler/client/output"
	"github.com/hostler/hostler/client/terminal"
)

// service sends requests to the API with an API key.
type service struct {
	base   *url.URL
	key    string
	client *http.Client
}

// ticket is the right to open one connection to a console. It works once and
// expires soon. Kind is terminal or graphical; Password is the VNC password of
// a graphical console and otherwise nil.
type ticket struct {
	Ticket   string  `json:"ticket"`
	Path     string  `json:"path"`
	Kind     string  `json:"kind"`
	Password *string `json:"password"`
}

// maxAnswer bounds an answer of the service, in bytes, and maxMessage a message of its socket.
const (
	// maxAnswer is the maximum size of a response of the API, and maxMessage
	// that of one message of the websocket, both in bytes.
	maxAnswer  = 1 << 20
	maxMessage = 1 << 20
)

// newService checks the options and reads the API key. It sends nothing. The
// certificate authorities of --ca replace those of the system.
func newService(o options) (*service, error) {
	base, err := url.Parse(strings.TrimSuffix(o.url, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("invalid URL of the service: %q", o.url)
	}
	if o.keyFile == "" {
		return nil, errors.New("no API key: set --key-file to a file with one; POST /api/v1/api-keys creates a key")
	}
	key, err := contexts.ReadKeyFile(o.keyFile)
	if err != nil {
		return nil, fmt.Errorf("reading the API key: %w", err)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 10 * time.Second}
	if o.ca != "" {
		pem, err := os.ReadFile(o.ca)
		if err != nil {
			return nil, fmt.Errorf("reading the certificate: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s contains no certificate", o.ca)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return &service{base, key, &http.Client{Transport: transport}}, nil
}

// header returns the header that authenticates a request.
func (s *service) header() http.Header { return http.Header{"Authorization": {"Bearer " + s.key}} }

// ticket requests a ticket with the size of the terminal; path is relative to
// /api/v1. It returns the text of the service's refusal as the error if the
// service refuses.
func (s *service) ticket(ctx context.Context, path string, o options, here *terminal.Terminal) (t ticket, err error) {
	query := url.Values{}
	if o.kind != "" {
		query.Set("kind", o.kind)
	}
	if o.node != "" {
		query.Set("node", o.node)
	}
	if columns, rows, ok := here.Size(); ok {
		query.Set("columns", strconv.Itoa(columns))
		query.Set("rows", strconv.Itoa(rows))
	}
	at := s.base.JoinPath("api/v1", path)
	at.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), nil)
	if err != nil {
		return t, err
	}
	r.Header = s.header()
	answer, err := s.client.Do(r)
	if err != nil {
		return t, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return t, refusal(answer)
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(&t); err != nil {
		return t, fmt.Errorf("reading the ticket: %w", err)
	}
	return t, nil
}

// refusal returns the error of a response: the detail and the remedy of its
// problem document (RFC 9457). For invalid parameters the detail is a list,
// whose messages are joined. The text is cleaned, because it goes to a
// terminal.
func refusal(answer *http.Response) error {
	var p struct {
		Detail json.RawMessage `json:"detail"`
		Remedy string          `json:"remedy"`
	}
	if json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(&p) != nil || len(p.Detail) == 0 {
		return fmt.Errorf("the service responded with %s", answer.Status)
	}
	text := string(p.Detail)
	var faults []struct{ Msg string }
	if json.Unmarshal(p.Detail, &text) != nil && json.Unmarshal(p.Detail, &faults) == nil {
		var all []string
		for _, f := range faults {
			all = append(all, f.Msg)
		}
		text = strings.Join(all, "; ")
	}
	if p.Remedy != "" {
		text += "\nhint: " + p.Remedy
	}
	return errors.New(output.Clean(text))
}

// connect opens the websocket of a ticket. Behind a reverse proxy with a base
// path, the service may know that path and return it in the ticket, or may not;
// both work. Errors never contain the URL, because the ticket is part of it.
func (s *service) connect(ctx context.Context, t ticket) (*websocket.Conn, error) {
	at := s.base.JoinPath(t.Path)
	if strings.HasPrefix(t.Path, s.base.Path+"/") { // the service knows below which path it is found
		at = s.base.ResolveReference(&url.URL{Path: t.Path})
	}
	at.RawQuery = url.Values{"ticket": {t.Ticket}}.Encode()
	conn, answer, err := websocket.Dial(ctx, at.String(), &websocket.DialOptions{HTTPClient: s.client, HTTPHeader: s.header()})
	if err != nil && answer != nil {
		return nil, refusal(answer)
	}
	if err != nil { // whose text has the ticket in it
		return nil, errors.New("cannot open the console")
	}
	conn.SetReadLimit(maxMessage)
	return conn, nil
}

// relay listens on an address, lets one VNC viewer connect, and copies bytes in
// both directions until either side ends. It opens the console before the
// viewer connects, because the ticket expires. It prints the VNC password,
// which is valid for this console only; the listener itself does not
// authenticate, so the address should be on loopback.
func (s *service) relay(ctx context.Context, t ticket, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("waiting for a viewer: %w", err)
	}
	defer func() { _ = listener.Close() }()
	conn, err := s.connect(ctx, t)
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	fmt.Printf("connect a VNC viewer to %s with the password %s\n", listener.Addr(), *t.Password)
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	viewer, err := listener.Accept()
	if err != nil {
		return fmt.Errorf("waiting for a viewer: %w", err)
	}
	defer func() { _ = viewer.Close() }()
	remote := websocket.NetConn(ctx, conn, websocket.MessageBinary)
	go func() {
		_, _ = io.Copy(remote, viewer) // the viewer leaves
		_ = remote.Close()
	}()
	_, err = io.Copy(viewer, remote)
	return terminal.EndError(err)
}
