package command

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/hostler/hostler/client/contexts"
	"github.com/hostler/hostler/client/transport"
)

// connection returns the client of this run. It creates the client once and is
// not safe for concurrent use; commands with several goroutines call it before
// they start them. The service is the one of HOSTLER_URL, with the key in
// HOSTLER_KEY_FILE and the certificate authorities in HOSTLER_CA, or else the
// one of the chosen context. No request is sent here.
func (s *session) connection() (*transport.Client, error) {
	if s.client != nil {
		return s.client, nil
	}
	c, name, key, err := s.chosen()
	if err != nil {
		return nil, err
	}
	at, err := serviceURL(c.URL)
	if err != nil {
		return nil, err
	}
	if err := refusePlain(at, c.PlainHTTP); err != nil {
		return nil, err
	}
	options := transport.Options{URL: at, Key: key, Fingerprint: c.Fingerprint, Agent: s.agent()}
	if c.Authorities != "" {
		if options.Authorities, err = readFile(c.Authorities); err != nil {
			return nil, err
		}
	}
	s.client, err = transport.New(options)
	s.known = name
	return s.client, err
}

// agent is the User-Agent of all requests; the service's audit log shows it.
func (s *session) agent() string { return "hostler/" + s.version }

// chosen returns the context of this run and its API key. --context, or
// HOSTLER_CONTEXT as its default, wins over HOSTLER_URL: a name is more
// specific than a service. The key comes from a file and not from a variable,
// because other processes of the user can read the environment and tools like
// to log it.
func (s *session) chosen() (c contexts.Context, name, key string, err error) {
	if at := os.Getenv("HOSTLER_URL"); at != "" && s.contextName == "" {
		file := os.Getenv("HOSTLER_KEY_FILE")
		if file == "" {
			return c, "", "", &failure{statusUnauthenticated, "HOSTLER_URL is set, but HOSTLER_KEY_FILE is not: set it to a file with an API key"}
		}
		key, err := contexts.ReadKeyFile(file)
		return contexts.Context{URL: at, Authorities: os.Getenv("HOSTLER_CA")}, "environment", key, err
	}
	file, err := openContexts()
	if err != nil {
		return c, "", "", err
	}
	if name, c, err = file.Get(s.contextName); err != nil {
		return c, "", "", err
	}
	key, err = file.Secret(name, c)
	return c, name, key, err
}

// openContexts reads the user's file of contexts. A missing file is the same as
// an empty one and is not created.
func openContexts() (*contexts.File, error) {
	path, err := contexts.Path()
	if err != nil {
		return nil, err
	}
	return contexts.Open(path)
}

// serviceURL parses the address of a service. Without a scheme it is https,
// except for localhost and loopback addresses, which are http, because the
// service listens there without TLS by default. A pasted address of a page or
// of the API works: the suffix /api/v1, the query and the fragment are dropped.
// A password in the address is refused, because it would end up in the shell's
// history and in the file of contexts.
func serviceURL(text string) (*url.URL, error) {
	full := text
	if !strings.Contains(text, "://") {
		full = "https://" + text
	}
	at, err := url.Parse(full)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, &failure{statusUsage, fmt.Sprintf("invalid address %q: expected a URL such as https://hostler.example.org", text)}
	}
	if at.User != nil {
		return nil, &failure{statusUsage, "the address must not contain a password: hostler login asks for it"}
	}
	if full != text && loopback(at.Hostname()) {
		at.Scheme = "http"
	}
	at.Path = strings.TrimSuffix(strings.TrimSuffix(at.Path, "/"), "/api/v1")
	at.RawPath, at.RawQuery, at.Fragment = "", "", ""
	return at, nil
}

// refusePlain returns an error if the API key would cross the network without
// TLS. Loopback addresses are fine, and so is a context that was created with
// --plain-http.
func refusePlain(at *url.URL, allowed bool) error {
	if at.Scheme != "http" || loopback(at.Hostname()) || allowed {
		return nil
	}
	return &failure{statusUsage, fmt.Sprintf("cannot connect to %s: passwords and keys would go over the network without TLS; "+
		"use https://, or log in with hostler login --plain-http", at.Host)}
}

// loopback reports whether a host is this machine. It does not resolve names
// other than localhost, because DNS answers are not trustworthy here.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// maxFile is the maximum size of a file with a key, a password, certificates or
// a body, in bytes.
const maxFile = 8 << 20

// readFile reads a small file of the user, up to maxFile bytes.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return readBounded(file, path)
}

// readInput reads a small file, or standard input if the path is "-". Standard
// input can only be read once, so a command line must not use "-" twice.
func (s *session) readInput(path string) ([]byte, error) {
	if path == "-" {
		return readBounded(s.in, "standard input")
	}
	return readFile(path)
}

// readBounded reads everything up to maxFile bytes and returns an error for
// more. The limit protects from devices and pipes without an end.
func readBounded(from io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(text) > maxFile {
		return nil, errors.New(name + " is too large")
	}
	return text, nil
}
