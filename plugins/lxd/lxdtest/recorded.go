package lxdtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Exchange is one recorded request to a real server with its answer.
type Exchange struct {
	// Case is the file's name without its ending, with incus/ in front of those of Incus.
	Case    string          `json:"-"`
	Method  string          `json:"method"`
	Path    string          `json:"path"`
	Request ExchangeRequest `json:"request"`
	Status  int             `json:"status"`
	Header  [][2]string     `json:"response_headers"`
	// Response is an answer in JSON, Text one that is not.
	Response json.RawMessage `json:"response"`
	Text     string          `json:"response_text"`
	// Handshake and Frames are of a websocket.
	Handshake string          `json:"handshake_response_head"`
	Frames    []ExchangeFrame `json:"frames"`
}

// ExchangeRequest is how an exchange was asked for.
type ExchangeRequest struct {
	// Auth says whose certificate was shown: admin, limited, metrics, joined, stranger, nocert; unix is the local socket.
	Auth    string            `json:"auth"`
	URL     string            `json:"url_path_and_query"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
}

// ExchangeFrame is a frame of a websocket: recv came from the server. 1 is a text.
type ExchangeFrame struct {
	Dir    string `json:"dir"`
	Opcode int    `json:"opcode"`
	Data   string `json:"data"`
}

// Exchanges reads all recordings in the order of their names, or skips the test without them. They are in
// $HOSTLER_REFERENCE_DIR/lxd, or in ../shared/lxd beside the repository.
func Exchanges(t testing.TB) []Exchange {
	t.Helper()
	dir := os.Getenv("HOSTLER_REFERENCE_DIR")
	if dir == "" {
		dir = filepath.Join(repository(t), "..", "shared")
	}
	var all []Exchange
	for folder, prefix := range map[string]string{"recorded": "", "recorded-incus": "incus/"} {
		files, err := filepath.Glob(filepath.Join(dir, "lxd", folder, "*__*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			e := Exchange{Case: prefix + strings.TrimSuffix(filepath.Base(file), ".json")}
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &e); err != nil {
				t.Fatalf("recording %s: %v", e.Case, err)
			}
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		t.Skipf("recordings of LXD are not at %s; set HOSTLER_REFERENCE_DIR to the folder above lxd to run this test", dir)
	}
	return all
}

// repository is the folder with the go.mod. Tests run in their package's folder.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skip("recordings: the test does not run in its repository; set HOSTLER_REFERENCE_DIR")
		}
		dir = up
	}
}
