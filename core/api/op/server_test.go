package op_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hostler/hostler/core/api/op"
)

type echoIn struct {
	Body struct {
		Text string `json:"text"`
	}
}

// echoServer is a real server with one operation, whose handler waits for its context when the text is "wait".
func echoServer(t *testing.T, config op.Config, left chan error) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(lone(t, config, func(a *op.API) {
		op.Post(a, "/api/v1/try", func(ctx context.Context, in *echoIn) (*op.Body[string], error) {
			if in.Body.Text == "wait" {
				<-ctx.Done()
				left <- context.Cause(ctx)
				return nil, ctx.Err()
			}
			return &op.Body[string]{Body: in.Body.Text}, nil
		}, public)
	}))
	t.Cleanup(server.Close)
	return server
}

// raw sends bytes as they are and leaves the connection open.
func raw(t *testing.T, server *httptest.Server, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(hanging))
	return conn
}

const head = "POST /api/v1/try HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

func TestBodyThatDoesNotArrive(t *testing.T) {
	t.Parallel()
	server := echoServer(t, op.Config{BodyTime: 50 * time.Millisecond}, nil)
	conn := raw(t, server, head+"Content-Length: 100\r\n\r\n{\"text\":")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusRequestTimeout {
		t.Fatalf("%v %v", answer, err)
	}
}

func TestBodyThatDoesNotArriveAndIsNotWanted(t *testing.T) {
	t.Parallel()
	server := echoServer(t, op.Config{BodyTime: 50 * time.Millisecond}, nil)
	conn := raw(t, server, strings.Replace(head, "/api/v1/try", "/api/v1/nothing", 1)+"Content-Length: 100\r\n\r\n{")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusUnauthorized {
		t.Fatalf("%v %v", answer, err)
	}
}

func TestSlowHandlerOutlivesTheBodysDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, slowHandlerOutlivesTheBodysDeadline)
}

func slowHandlerOutlivesTheBodysDeadline(t *testing.T) {
	left := make(chan error, 1)
	spec := public
	spec.Timeout = 400 * time.Millisecond
	server := inMemory(t, lone(t, op.Config{BodyTime: 20 * time.Millisecond}, func(a *op.API) {
		op.Post(a, "/api/v1/try", func(ctx context.Context, in *echoIn) (*op.Empty, error) {
			<-ctx.Done()
			left <- ctx.Err()
			return nil, ctx.Err()
		}, spec)
	}))
	answer, err := server.Client().Post(server.URL+"/api/v1/try", "application/json", strings.NewReader(`{"text":"a"}`))
	if err != nil || answer.StatusCode != http.StatusGatewayTimeout {
		t.Fatalf("%v %v", answer, err)
	}
	answer.Body.Close()
	if err := <-left; err != context.DeadlineExceeded {
		t.Errorf("the handler's context ended with %v", err)
	}
}

func TestClientThatLeaves(t *testing.T) {
	t.Parallel()
	left := make(chan error, 1)
	server := echoServer(t, op.Config{}, left)
	conn := raw(t, server, head+"Content-Length: 15\r\n\r\n{\"text\":\"wait\"}")
	conn.Close()
	select {
	case <-left:
	case <-time.After(hanging):
		t.Fatal("the handler was not told that its client left")
	}
	raw(t, server, head+"Content-Length: 100\r\n\r\n{\"te").Close() // in the middle of its body
}

func TestChunkedBodyIsBounded(t *testing.T) {
	t.Parallel()
	server := echoServer(t, op.Config{}, nil)
	r, _ := http.NewRequest("POST", server.URL+"/api/v1/try", io.MultiReader(strings.NewReader(`{"text":"`), &endless{}))
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Fatalf("%v %v", answer, err)
	}
}

// What is wrong with the chunks is told; who leaves between two is not there to be told.
func TestMalformedChunks(t *testing.T) {
	t.Parallel()
	server := echoServer(t, op.Config{}, nil)
	for _, chunks := range []string{"zz\r\n{}\r\n0\r\n\r\n", "2\r\n{}xx\r\n0\r\n\r\n", "-2\r\n{}\r\n0\r\n\r\n", "fffffffffffffffff\r\n{}",
		"\r\n{}\r\n0\r\n\r\n", "2\n{}\n0\n\n"} {
		conn := raw(t, server, head+"Transfer-Encoding: chunked\r\n\r\n"+chunks)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || answer.StatusCode != http.StatusBadRequest || !answer.Close {
			t.Errorf("%q: %v %v", chunks, answer, err)
			continue
		}
		if body, _ := io.ReadAll(answer.Body); !strings.Contains(string(body), `"malformed"`) {
			t.Errorf("%q: %s", chunks, body)
		}
	}
	conn := raw(t, server, head+"Transfer-Encoding: chunked\r\n\r\n10\r\n{\"te").(*net.TCPConn)
	_ = conn.CloseWrite()
	if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != 499 {
		t.Errorf("a body that ends too early: %v %v", answer, err)
	}
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

func TestObserve(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 10)
	server := echoServer(t, op.Config{Observe: func(operation, method string, status int, _ time.Duration) {
		seen <- fmt.Sprint(operation, " ", method, " ", status)
	}}, nil)
	for body, want := range map[string]string{`{"text":"a"}`: "try POST 200", `{}`: "try POST 422"} {
		answer, err := http.Post(server.URL+"/api/v1/try", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if got := <-seen; got != want {
			t.Errorf("observed %q, want %q", got, want)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	server := echoServer(t, op.Config{PublicRequests: 1000}, nil)
	var wrong atomic.Int64
	done := make(chan struct{})
	const workers = 8
	for worker := range workers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range 50 {
				text := fmt.Sprintf("text %d %d", worker, i)
				answer, err := http.Post(server.URL+"/api/v1/try", "application/json",
					strings.NewReader(`{"text":"`+text+`","extra":`+fmt.Sprint(i%2)+`}`))
				if err != nil {
					wrong.Add(1)
					continue
				}
				body, _ := io.ReadAll(answer.Body)
				answer.Body.Close()
				if answer.StatusCode != 422 || !strings.Contains(string(body), `["body","extra"]`) {
					wrong.Add(1)
				}
			}
		}()
	}
	for range workers {
		<-done
	}
	if n := wrong.Load(); n > 0 {
		t.Errorf("%d wrong answers", n)
	}
}
