package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// A connection ends with the answer to a chunked request, whether it has a length as well or not: nothing that follows in
// it is taken for a request. Others are kept.
func TestConnectionEndsAfterAChunkedRequest(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	paths := make(chan string, 100)
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		paths <- r.URL.Path
		_, _ = w.Write(body)
	}), hclog.NewNullLogger())
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	const head, smuggled = "POST /first HTTP/1.1\r\nHost: x\r\n", "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, tt := range map[string]struct {
		request string
		ends    bool
	}{
		"both":                  {head + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true},
		"both, the other order": {head + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n2\r\nhi\r\n0\r\n\r\n", true},
		"chunked":               {head + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", true},
		"a length":              {head + "Content-Length: 2\r\n\r\nhi", false},
		"nothing":               {head + "\r\n", false},
	} {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		if _, err := io.WriteString(conn, tt.request+smuggled); err != nil {
			t.Fatal(err)
		}
		reader := bufio.NewReader(conn)
		answer, err := http.ReadResponse(reader, nil)
		if err != nil || answer.StatusCode != http.StatusOK || answer.Close != tt.ends {
			t.Fatalf("%s: %v %v", name, answer, err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		if path := <-paths; path != "/first" {
			t.Errorf("%s: %s came first", name, path)
		}
		second, err := http.ReadResponse(reader, nil)
		if tt.ends != (err != nil) {
			t.Errorf("%s: then %v, %v", name, second, err)
		}
		if !tt.ends {
			if path := <-paths; path != "/second" {
				t.Errorf("%s: %s came second", name, path)
			}
		} else if rest := len(paths); rest != 0 {
			t.Errorf("%s: what followed was taken for a request", name)
		}
		_ = conn.Close()
	}
}
