package pvesim

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// bodyKind says what an error answer carries besides its reason phrase.
type bodyKind int

// The forms of an error's body.
const (
	bodyJSON bodyKind = iota // data, message, errors: errors of the API itself
	bodyText                 // the bare text, no Content-Type: errors of the HTTP server
	bodyNone
)

// apiError is an answer that is not 200. Its first line becomes the reason phrase.
type apiError struct {
	status   int
	text     string
	errors   map[string]string // per parameter, with status 400
	body     bodyKind
	bareText bool // no line feed after the message
	delay    bool // a failed authentication: the answer comes late
}

// Error implements error.
func (e *apiError) Error() string { return strconv.Itoa(e.status) + " " + e.text }

// failure is the usual domain error: status 500 and a text.
func failure(format string, args ...any) *apiError {
	return &apiError{status: 500, text: fmt.Sprintf(format, args...)}
}

// forbidden is a 403; what names path and privileges, or is empty for the bare form.
func forbidden(what string) *apiError {
	text := "Permission check failed"
	if what != "" {
		text += " (" + what + ")"
	}
	return &apiError{status: 403, text: text}
}

// badParameters is a 400 with one text per parameter.
func badParameters(errs map[string]string) *apiError {
	return &apiError{status: 400, text: "Parameter verification failed.", errors: errs}
}

// badParameter returns the error of one parameter.
func badParameter(name, text string) *apiError { return badParameters(map[string]string{name: text}) }

// unauthorized returns the error of a failed login, which is answered late.
func unauthorized(reason string) *apiError {
	return &apiError{status: 401, text: reason, body: bodyNone, delay: true}
}

// serverError is an error of the HTTP server, before the API.
func serverError(status int, text string, body bodyKind) *apiError {
	return &apiError{status: status, text: text, body: body}
}

// result is the content of a successful answer.
type result struct {
	data  any
	total int // beside data when above zero, or when counted is set
	// counted tells that there is a total although it is zero.
	counted bool
	// changes is the diff of staged changes, beside data when there are some.
	changes string
	raw     []byte     // the whole body, ready made
	ready   *readyBody // where raw is kept, if it is
	plain   bool       // raw is text, not JSON
	// console is where the connection leads if it is to become a WebSocket.
	console *consoleKey
}

// ok returns the result of a request.
func ok(data any) (result, *apiError) { return result{data: data}, nil }

// fail returns the error of a request.
func fail(e *apiError) (result, *apiError) { return result{}, e }

// encode returns the body of an answer.
func (r *result) encode(extjs bool) ([]byte, error) {
	if r.raw != nil {
		return r.raw, nil
	}
	m := map[string]any{"data": r.data}
	if r.total > 0 || r.counted {
		m["total"] = r.total
	}
	if r.changes != "" {
		m["changes"] = r.changes
	}
	if extjs {
		m["success"] = 1
	}
	return json.Marshal(m)
}

// encode makes the body of an error. The message came with pve-http-server 5.2.
func (e *apiError) encode(withMessage bool) []byte {
	switch e.body {
	case bodyNone:
		return nil
	case bodyText:
		return []byte(e.text)
	}
	message := e.text
	if !e.bareText {
		message += "\n"
	}
	m := map[string]any{"data": nil}
	if withMessage {
		m["message"] = message
	}
	if len(e.errors) > 0 {
		m["errors"] = e.errors
	}
	b, _ := json.Marshal(m) // strings only
	return b
}

// reason is the first line of the text, fit for a status line.
func (e *apiError) reason() string {
	line, _, _ := strings.Cut(e.text, "\n")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, line)
}

// okHeader is what makes the headers of one good answer differ from another's.
type okHeader struct {
	gzipped   bool
	plain     bool // text instead of JSON
	last      bool // the connection closes after it
	viaDaemon bool // the privileged daemon took part
	at        time.Time
}

// writeOK sends a 200. Methods that the real server hands to its privileged
// daemon come back with two Connection headers, close first: clients that look
// at all of them open a new connection each time.
func writeOK(w http.ResponseWriter, body []byte, o okHeader) {
	h := w.Header()
	now := o.at.UTC().Format(http.TimeFormat)
	h["Date"] = []string{now}
	h["Cache-Control"] = []string{"max-age=0"}
	h["Pragma"] = []string{"no-cache"}
	h["Server"] = []string{"pve-api-daemon/3.0"}
	h["Content-Type"] = []string{"application/json;charset=UTF-8"}
	h["Expires"] = []string{now}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	h["Connection"] = []string{"Keep-Alive"}
	if o.plain {
		h["Content-Type"] = []string{"text/plain"}
	}
	if o.gzipped {
		h["Content-Encoding"] = []string{"gzip"}
	}
	switch {
	case o.last:
		h["Connection"] = []string{"close"}
	case o.viaDaemon:
		h["Connection"] = []string{"close", "Keep-Alive"}
	}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // the client may be gone; there is nobody to tell
}

// truncate announces a body, sends half of it and breaks off; it does not return.
func truncate(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler) // net/http's way to break a connection
}

// lingerTime bounds the wait for a client that still sends while its error is already on the way.
const lingerTime = 10 * time.Second

// writeError sends a status line with its reason phrase and closes the
// connection, as the real server does after every error. net/http knows no
// reason phrases, so the connection is taken over.
func writeError(w http.ResponseWriter, e *apiError, body []byte) {
	conn, rw, ok := takeOver(w)
	if !ok { // a recorder, or a server that cannot hand over its connection
		w.Header().Set("Connection", "close")
		if e.body == bodyJSON {
			w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		}
		w.WriteHeader(e.status)
		_, _ = w.Write(body)
		return
	}
	defer conn.Close()
	now := time.Now().UTC().Format(http.TimeFormat)
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(rw, "HTTP/1.1 %d %s\r\nCache-Control: max-age=0\r\nConnection: close\r\nDate: %s\r\nPragma: no-cache\r\n"+
		"Server: pve-api-daemon/3.0\r\n", e.status, e.reason(), now)
	if len(body) > 0 { // without a body there is no length either: the end of the connection is the end of the answer
		fmt.Fprintf(rw, "Content-Length: %d\r\n", len(body))
	}
	if e.body == bodyJSON {
		_, _ = rw.WriteString("Content-Type: application/json;charset=UTF-8\r\n")
	}
	fmt.Fprintf(rw, "Expires: %s\r\n\r\n", now)
	_, _ = rw.Write(body)
	if rw.Flush() == nil {
		linger(conn)
	}
}

// takeOver takes the connection away from the HTTP server.
func takeOver(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, bool) {
	hj, ok := w.(http.Hijacker)
	if !ok {
		return nil, nil, false
	}
	conn, rw, err := hj.Hijack()
	if err != nil {
		return nil, nil, false
	}
	return conn, rw, true
}

// linger says that nothing more comes and reads what the client still sends, so
// that its kernel does not throw the answer away with a reset.
func linger(conn net.Conn) {
	if cw, ok := conn.(interface{ CloseWrite() error }); ok && cw.CloseWrite() == nil {
		_ = conn.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.Copy(io.Discard, io.LimitReader(conn, 1<<20))
	}
}

// cutConnection closes the connection without a word.
func cutConnection(w http.ResponseWriter) {
	if conn, _, ok := takeOver(w); ok {
		_ = conn.Close()
		return
	}
	panic(http.ErrAbortHandler)
}
