package pvesim_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rawAnswer is an answer as it came over the wire.
type rawAnswer struct {
	status int
	reason string
	header http.Header
	body   []byte
}

// rawRequest is a request as it goes over the wire.
type rawRequest struct {
	method, path string // path with query
	header       map[string]string
	body         string
}

// send writes a request by hand, so that nothing is corrected on the way, and reads the answer.
func send(t testing.TB, base string, r rawRequest) rawAnswer {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Minute}, "tcp", u.Host, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.method, r.path, u.Host)
	if r.body != "" || r.method == "POST" || r.method == "PUT" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(r.body))
	}
	for k, v := range r.header {
		fmt.Fprintf(&b, "%s: %s\r\n", k, v)
	}
	b.WriteString("\r\n" + r.body)
	if _, err := io.WriteString(conn, b.String()); err != nil {
		t.Fatalf("sending: %v", err)
	}
	// Read by hand too: net/http takes the Connection header away.
	br := bufio.NewReader(conn)
	tp := textproto.NewReader(br)
	line, err := tp.ReadLine()
	if err != nil {
		t.Fatalf("reading answer to %s %s: %v", r.method, r.path, err)
	}
	proto, rest, _ := strings.Cut(line, " ")
	code, reason, _ := strings.Cut(rest, " ")
	status, err := strconv.Atoi(code)
	if err != nil || proto != "HTTP/1.1" {
		t.Fatalf("status line of %s %s is %q", r.method, r.path, line)
	}
	header, err := tp.ReadMIMEHeader()
	if err != nil {
		t.Fatalf("reading header of %s %s: %v", r.method, r.path, err)
	}
	var body []byte
	if length := header.Get("Content-Length"); length == "" {
		body, err = io.ReadAll(br)
	} else {
		n, convErr := strconv.Atoi(length)
		if convErr != nil {
			t.Fatalf("%s %s: content length: %v", r.method, r.path, convErr)
		}
		body = make([]byte, n)
		_, err = io.ReadFull(br, body)
	}
	if err != nil {
		t.Fatalf("reading body of %s %s: %v", r.method, r.path, err)
	}
	return rawAnswer{status, reason, http.Header(header), body}
}
