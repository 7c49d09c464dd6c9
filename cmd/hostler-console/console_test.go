package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hostler/hostler/client/terminal"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
)

// serve is a service that knows the key "k" and one VM, whose console repeats what is typed and ends at "exit". The VM 2 has a graphical
// one, and the VM 3 is refused.
func serve(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	ticket := func(w http.ResponseWriter, r *http.Request, kind string) {
		if r.Header.Get("Authorization") != "Bearer k" {
			http.Error(w, `{"detail":"log in first"}`, http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"ticket":"once","path":"/below/%s/ws","kind":%q,"password":"secret12"}`, kind, kind)
	}
	mux.HandleFunc("POST /api/v1/vms/1/console/tickets", func(w http.ResponseWriter, r *http.Request) { ticket(w, r, "terminal") })
	mux.HandleFunc("POST /api/v1/vms/2/console/tickets", func(w http.ResponseWriter, r *http.Request) { ticket(w, r, "graphical") })
	mux.HandleFunc("POST /api/v1/vms/3/console/tickets", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"detail":"the token lacks\u001b[2J it","remedy":"grant it"}`, http.StatusBadGateway)
	})
	mux.HandleFunc("GET /below/{kind}/ws", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("ticket") != "once" || r.Header.Get("Authorization") != "Bearer k" {
			http.Error(w, `{"detail":"no"}`, http.StatusForbidden)
			return
		}
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = c.CloseNow() }()
		if r.PathValue("kind") == "terminal" {
			_ = c.Write(r.Context(), websocket.MessageText, []byte(`{"recorded":true,"notice":"it is recorded"}`))
		}
		for {
			_, data, err := c.Read(r.Context())
			if err != nil {
				return
			}
			_ = c.Write(r.Context(), websocket.MessageBinary, data)
			if bytes.Contains(data, []byte("exit")) {
				_ = c.Close(4502, "the node is gone")
				return
			}
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// files are a file with the key, and pipes in the place of a terminal.
func files(t *testing.T, typed string) (key string, here *terminal.Terminal, shown func() string) {
	t.Helper()
	key = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("k\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.WriteString(write, typed)
		_ = write.Close()
	}()
	return key, terminal.New(in, out, &terminal.Bracket{}), func() string {
		_ = out.Close()
		text, _ := io.ReadAll(read)
		return string(text)
	}
}

func TestPiped(t *testing.T) {
	t.Parallel()
	url := serve(t)
	for typed, want := range map[string]string{"ls\r": "", "exit\r": "the node is gone (4502)"} {
		key, here, shown := files(t, typed)
		o := options{url: url + "/", keyFile: key}
		s, err := newService(o)
		if err != nil {
			t.Fatal(err)
		}
		made, err := s.ticket(t.Context(), "vms/1/console/tickets", o, here)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := s.connect(t.Context(), made)
		if err != nil {
			t.Fatal(err)
		}
		err = here.Show(t.Context(), conn, 5*time.Second) // for what is said to the last word
		if text := shown(); text != "[it is recorded]\r\n"+typed || (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%q: %q, %v", typed, text, err)
		}
	}
}

func TestKeyFileThatOthersMayRead(t *testing.T) {
	t.Parallel()
	key, _, _ := files(t, "")
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true} {
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := newService(options{url: "https://hostler.invalid", keyFile: key}); (err != nil) != refused ||
			refused && !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	url := serve(t)
	key, here, _ := files(t, "")
	s, err := newService(options{url: url, keyFile: key})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ticket(t.Context(), "vms/3/console/tickets", options{}, here); err == nil ||
		err.Error() != "the token lacks�[2J it\nhint: grant it" {
		t.Errorf("%v", err)
	}
	s.key = "other"
	if _, err := s.ticket(t.Context(), "vms/1/console/tickets", options{}, here); err == nil || err.Error() != "log in first" {
		t.Errorf("%v", err)
	}
	_, err = s.connect(t.Context(), ticket{Path: "/below/terminal/ws", Ticket: "canary"})
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("%v", err)
	}
	// A service that knows below which path it is found tells it with the ticket's path, and one that does not leaves it to who found it.
	if s, err = newService(options{url: url + "/below", keyFile: key}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/below/terminal/ws", "/terminal/ws"} {
		c, err := s.connect(t.Context(), ticket{Path: path, Ticket: "once"})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		_ = c.CloseNow()
	}
	for _, args := range [][]string{{"vm", "1"}, {"vm", "x"}, {"guest", "1"}, {"vm"}} {
		c := command()
		c.SetArgs(append([]string{"--key-file", ""}, args...))
		c.SetErr(io.Discard)
		if c.Execute() == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

// A viewer that connects gets what the console says, and says what it likes.
func TestRelay(t *testing.T) {
	t.Parallel()
	key, _, _ := files(t, "")
	s, err := newService(options{url: serve(t), keyFile: key})
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", programtest.FreePort(t))
	password := "secret12"
	ended := make(chan error, 1)
	go func() {
		ended <- s.relay(t.Context(), ticket{Ticket: "once", Path: "/below/graphical/ws", Password: &password}, address)
	}()
	var viewer net.Conn
	waittest.Succeeds(t, "the viewer connects", func() (err error) {
		select {
		case err := <-ended:
			t.Fatal(err)
		default:
		}
		viewer, err = net.Dial("tcp", address)
		return err
	})
	defer viewer.Close()
	if _, err := io.WriteString(viewer, "exit"); err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(viewer); string(said) != "exit" {
		t.Errorf("the viewer got %q, %v", said, err)
	}
	if err := <-ended; err == nil || err.Error() != "the node is gone (4502)" {
		t.Errorf("the end is told as %v", err)
	}
}
