package pvetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Exchange is one recorded request to a real Proxmox VE server with its answer.
type Exchange struct {
	// Case is the file name without its ending, for example "GET__version__ok".
	Case     string          `json:"-"`
	Method   string          `json:"method"`
	Path     string          `json:"path"` // below /api2/json; "{upid}" stands for Request.UPID
	Request  ExchangeRequest `json:"request"`
	Status   int             `json:"status"`
	Reason   string          `json:"reason"`
	Response json.RawMessage `json:"response"`
	Header   [][2]string     `json:"response_headers"`
	Note     string          `json:"note"`
}

// ExchangeRequest is how an exchange was asked for.
type ExchangeRequest struct {
	Auth     string            `json:"auth"`     // label of the identity, see the data's README
	Params   json.RawMessage   `json:"params"`   // an object, null, or text when the body was raw
	Encoding string            `json:"encoding"` // query, form or json
	URL      string            `json:"url_path_and_query"`
	Headers  map[string]string `json:"headers"` // secrets are replaced by <secret>
	UPID     string            `json:"upid"`
}

// HeaderValues returns the values of a header of the answer, in their order.
func (e *Exchange) HeaderValues(name string) []string {
	var out []string
	for _, h := range e.Header {
		if strings.EqualFold(h[0], name) {
			out = append(out, h[1])
		}
	}
	return out
}

// RecordedTask is the recorded end of a task: its status and its log.
type RecordedTask struct {
	Case     string          `json:"-"` // for example "qemu_start_running"
	UPID     string          `json:"upid"`
	Response json.RawMessage `json:"response"`
	Log      json.RawMessage `json:"log_response"`
}

// Exchanges reads all recorded exchanges in the order of their names, or skips the test without them.
func Exchanges(t testing.TB) []Exchange {
	t.Helper()
	var out []Exchange
	eachRecording(t, func(name string, raw []byte) {
		for _, other := range []string{"INDEX", "PRIVILEGES", "TASK__", "WS__"} {
			if strings.HasPrefix(name, other) {
				return
			}
		}
		e := Exchange{Case: name}
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatalf("decoding recording %s: %v", name, err)
		}
		out = append(out, e)
	})
	return out
}

// Socket is a recorded request for a WebSocket, and what went over it.
type Socket struct {
	Case    string `json:"-"`
	Path    string `json:"path"`
	Request struct {
		Auth string `json:"auth"`
	} `json:"request"`
	// Head is the answer to the request, without the empty line.
	Head string `json:"handshake_response_head"`
	// Frames are objects of a SocketFrame where the WebSocket came to be, else texts.
	Frames []json.RawMessage `json:"frames"`
}

// SocketFrame is one frame that was sent to the server ("send") or came from it ("recv"), or the error that came.
type SocketFrame struct {
	Dir   string `json:"dir"`
	Data  string `json:"data"`
	Error string `json:"error"`
}

// Sockets reads all recorded WebSockets, or skips the test without them.
func Sockets(t testing.TB) []Socket {
	t.Helper()
	var out []Socket
	eachRecording(t, func(name string, raw []byte) {
		if !strings.HasPrefix(name, "WS__") {
			return
		}
		s := Socket{Case: name}
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatalf("decoding recording %s: %v", name, err)
		}
		out = append(out, s)
	})
	return out
}

// RecordedTasks reads the recorded tasks by case, or skips the test without them.
func RecordedTasks(t testing.TB) map[string]RecordedTask {
	t.Helper()
	out := map[string]RecordedTask{}
	eachRecording(t, func(name string, raw []byte) {
		key, isTask := strings.CutPrefix(name, "TASK__")
		if !isTask {
			return
		}
		task := RecordedTask{Case: key}
		if err := json.Unmarshal(raw, &task); err != nil {
			t.Fatalf("decoding recording %s: %v", name, err)
		}
		out[key] = task
	})
	return out
}

func eachRecording(t testing.TB, f func(name string, raw []byte)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Reference(t), "recorded", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("listing recordings: %d found, %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("reading recording: %v", err)
		}
		f(strings.TrimSuffix(filepath.Base(file), ".json"), raw)
	}
}
