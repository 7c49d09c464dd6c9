package command

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/client/api"
	"github.com/hostler/hostler/client/contexts"
	"github.com/hostler/hostler/client/output"
	"github.com/hostler/hostler/client/transport"
)

func TestServiceURL_ChoosesHTTPForLoopbackOnly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"localhost": "http://localhost", "localhost:8480": "http://localhost:8480", "127.0.0.1:8480": "http://127.0.0.1:8480",
		"127.1.2.3": "http://127.1.2.3", "[::1]:8480": "http://[::1]:8480", "127.example.net": "https://127.example.net",
		"127.0.0.1.example.net:8480": "https://127.0.0.1.example.net:8480", "localhost.example.net": "https://localhost.example.net",
		"192.0.2.1": "https://192.0.2.1", "hostler.lab:8480/api/v1": "https://hostler.lab:8480", "https://localhost": "https://localhost",
		"http://hostler.lab": "http://hostler.lab",
	} {
		if at, err := serviceURL(text); err != nil || at.String() != want {
			t.Errorf("%s: %v %v, not %s", text, at, err, want)
		}
	}
	for _, text := range []string{"localhost:x@example.net", "ftp://localhost", ""} {
		if at, err := serviceURL(text); err == nil {
			t.Errorf("%q is %s", text, at)
		}
	}
}

// run runs the command line, without a terminal.
func run(t *testing.T, words ...string) (status int, said string) {
	t.Helper()
	var out, errs strings.Builder
	screen := &output.Screen{Out: &out, Err: &errs}
	status = Run(t.Context(), New("test", strings.NewReader(""), screen), screen, words)
	return status, out.String() + errs.String()
}

func keyFile(t *testing.T, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("svc_canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConnection_RefusesPlainHTTPToAnotherMachine(t *testing.T) {
	config := filepath.Join(t.TempDir(), "contexts.json")
	t.Setenv("HOSTLER_CONFIG", config)
	t.Setenv("HOSTLER_CONTEXT", "")
	t.Setenv("HOSTLER_KEY_FILE", keyFile(t, 0o600))
	t.Setenv("HOSTLER_URL", "http://hostler.invalid")
	if status, said := run(t, "vm", "list"); status != 2 || !strings.Contains(said, "TLS") {
		t.Errorf("a service from the environment: %d %s", status, said)
	}
	if status, said := run(t, "login", "http://hostler.invalid", "--key-file", "key"); status != 2 || !strings.Contains(said, "TLS") {
		t.Errorf("a log-in: %d %s", status, said)
	}
	t.Setenv("HOSTLER_URL", "")
	for _, allowed := range []bool{false, true} {
		file, err := contexts.Open(config)
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Put("far", contexts.Context{URL: "http://hostler.invalid", PlainHTTP: allowed}, "svc_canary"); err != nil {
			t.Fatal(err)
		}
		if err := file.Save(); err != nil {
			t.Fatal(err)
		}
		if _, err := new(session).connection(); (err == nil) != allowed {
			t.Errorf("a context, plain HTTP allowed %v: %v", allowed, err)
		}
	}
}

func TestConnection_RefusesKeyFileThatOthersMayRead(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[]")) }))
	defer server.Close()
	t.Setenv("HOSTLER_CONFIG", filepath.Join(t.TempDir(), "contexts.json"))
	t.Setenv("HOSTLER_CONTEXT", "")
	t.Setenv("HOSTLER_URL", server.URL)
	for mode, want := range map[os.FileMode]int{0o600: 0, 0o400: 0, 0o640: 1, 0o604: 1} {
		t.Setenv("HOSTLER_KEY_FILE", keyFile(t, mode))
		_, login := run(t, "login", server.URL, "--name", "here", "--key-file", os.Getenv("HOSTLER_KEY_FILE"))
		if strings.Contains(login, "chmod 600") != (want != 0) || strings.Contains(login, "canary") {
			t.Errorf("a log-in with mode %o: %s", mode, login)
		}
		status, said := run(t, "vm", "list")
		if status != want || want != 0 && !strings.Contains(said, "chmod 600") || strings.Contains(said, "canary") {
			t.Errorf("mode %o: %d, not %d: %s", mode, status, want, said)
		}
	}
}

func TestPages_RefusesListThatIsTooLarge(t *testing.T) {
	t.Parallel()
	page := "[" + strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("x", 800)+`",`, 500), ",") + "]"
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked > 50 {
			page = "[]"
		}
		_, _ = w.Write([]byte(page))
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	client, err := transport.New(transport.Options{URL: at})
	if err != nil {
		t.Fatal(err)
	}
	s := &session{client: client, maxListing: 1 << 20}
	if _, _, err := s.pages(t.Context(), api.Find("list_users"), "", url.Values{}, 0); err == nil || !strings.Contains(err.Error(), "1 MiB") {
		t.Errorf("the list was read: %v", err)
	}
	if asked != 3 {
		t.Errorf("%d pages were read", asked)
	}
	if _, _, err := s.pages(t.Context(), api.Find("list_users"), "", url.Values{}, 1000); err != nil {
		t.Errorf("two pages: %v", err)
	}
}
