package pvesim_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvetest"
)

// disagreements are recorded exchanges that the simulator answers otherwise, each with the reason why that stays. One
// that agrees after all, or one that is not listed, fails the test.
var disagreements = map[string]string{}

// replayed also has recordings that lead to no endpoint: they show how that is refused.
var replayedBesides = []string{
	"GET__nope__unknown_path", "GET__nodes_pve1_nope__unknown_path", "POST__version__wrong_method", "PATCH__version__bad_http_method",
	"GET__api2_extjs_version__extjs", "GET__api2_nope_version__unknown_format",
	"PUT__nodes_pve1_lxc_101_config__bad_content_type", "PUT__nodes_pve1_lxc_101_config__bad_json", "POST__nodes_pve1_lxc_101_config__post_not_put",
}

func TestReplayRecordedExchanges(t *testing.T) {
	t.Parallel()
	served := pvesim.Served()
	agree, total := 0, 0
	for _, e := range pvetest.Exchanges(t) {
		if !slices.Contains(replayedBesides, e.Case) && !slices.ContainsFunc(served, func(s pvesim.EndpointInfo) bool { return leadsTo(s, e) }) {
			continue
		}
		total++
		faults := replay(t, e)
		reason, listed := disagreements[e.Case]
		switch {
		case len(faults) == 0 && listed:
			t.Errorf("%s agrees, but is listed as a disagreement (%s)", e.Case, reason)
		case len(faults) > 0 && !listed:
			t.Errorf("%s %s (%s):\n\t%s", e.Method, e.Path, e.Case, strings.Join(faults, "\n\t"))
		case len(faults) > 0:
			t.Logf("%s disagrees: %s", e.Case, reason)
		}
		if len(faults) == 0 {
			agree++
		}
	}
	t.Logf("%d of %d recorded exchanges agree", agree, total)
	if total < 350 {
		t.Errorf("only %d recordings were replayed", total)
	}
}

// leadsTo reports whether a recorded request belongs to the endpoint.
func leadsTo(endpoint pvesim.EndpointInfo, e pvetest.Exchange) bool {
	method, template := endpoint.Method, endpoint.Path
	want := strings.FieldsFunc(template, func(r rune) bool { return r == '/' })
	got := strings.FieldsFunc(e.Path, func(r rune) bool { return r == '/' })
	if method != e.Method || len(want) != len(got) {
		return false
	}
	for i := range want {
		if !strings.HasPrefix(want[i], "{") && want[i] != got[i] {
			return false
		}
	}
	return true
}

// replay sends one recorded request to a simulator in the fitting state and tells how the answers differ.
func replay(t *testing.T, e pvetest.Exchange) []string {
	t.Helper()
	w := newRecordedServer(t)
	for _, p := range w.preparations() {
		if p.cases == "" || slices.ContainsFunc(strings.Fields(p.cases), func(c string) bool { return strings.HasSuffix(e.Case, c) }) {
			p.f()
		}
	}
	req := w.request(e)
	got := send(t, w.cluster.URL(""), req)
	var faults []string
	if got.status != e.Status {
		faults = append(faults, fmt.Sprintf("status %d, recorded %d", got.status, e.Status))
	}
	if got.reason != e.Reason {
		faults = append(faults, fmt.Sprintf("reason %q, recorded %q", got.reason, e.Reason))
	}
	if len(e.Header) > 0 {
		for _, name := range []string{"Connection", "Content-Type", "Cache-Control", "Pragma", "Server"} {
			if have, want := got.header.Values(name), e.HeaderValues(name); !slices.Equal(have, want) {
				faults = append(faults, fmt.Sprintf("header %s %q, recorded %q", name, have, want))
			}
		}
		if have, want := len(got.header.Values("Content-Length")), len(e.HeaderValues("Content-Length")); have != want {
			faults = append(faults, fmt.Sprintf("%d Content-Length headers, recorded %d", have, want))
		}
	}
	if string(e.Response) == "null" {
		if len(got.body) > 0 {
			faults = append(faults, fmt.Sprintf("body %q, recorded none", got.body))
		}
		return faults
	}
	var want any
	if err := json.Unmarshal(e.Response, &want); err != nil {
		t.Fatalf("%s: %v", e.Case, err)
	}
	if text, isText := want.(string); isText {
		if string(got.body) != text {
			faults = append(faults, fmt.Sprintf("body %q, recorded %q", got.body, text))
		}
		return faults
	}
	var have any
	if err := json.Unmarshal(got.body, &have); err != nil {
		return append(faults, fmt.Sprintf("body %q is no JSON", got.body))
	}
	if e.Status != 200 { // texts of errors are compared as they are
		if !jsonEqual(have, want) {
			faults = append(faults, fmt.Sprintf("body %s, recorded %s", got.body, e.Response))
		}
		return faults
	}
	return append(faults, compareShapes("", shapeOf(have), shapeOf(want))...)
}

func jsonEqual(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// shape is the types of a value: for a list, those of all its elements together.
type shape struct {
	kinds   map[string]bool // object, array, number, text, null, truth
	members map[string]*shape
	element *shape
}

func shapeOf(v any) *shape {
	s := &shape{kinds: map[string]bool{}, members: map[string]*shape{}}
	s.add(v)
	return s
}

func (s *shape) add(v any) {
	switch x := v.(type) {
	case nil:
		s.kinds["null"] = true
	case string:
		s.kinds["text"] = true
	case bool:
		s.kinds["truth"] = true
	case float64:
		s.kinds["number"] = true
	case []any:
		s.kinds["array"] = true
		for _, e := range x {
			if s.element == nil {
				s.element = shapeOf(e)
			} else {
				s.element.add(e)
			}
		}
	case map[string]any:
		s.kinds["object"] = true
		for k, e := range x {
			if s.members[k] == nil {
				s.members[k] = shapeOf(e)
			} else {
				s.members[k].add(e)
			}
		}
	}
}

// compareShapes names the members that only one side has and those whose types differ.
func compareShapes(at string, have, want *shape) []string {
	if have == nil || want == nil {
		if have != want {
			return []string{fmt.Sprintf("%s: one list is empty", at)}
		}
		return nil
	}
	var faults []string
	if !maps.Equal(have.kinds, want.kinds) && !toleratedKinds(at, have, want) {
		faults = append(faults, fmt.Sprintf("%s is %v, recorded %v", at, slices.Sorted(maps.Keys(have.kinds)), slices.Sorted(maps.Keys(want.kinds))))
	}
	for name, m := range have.members {
		if want.members[name] == nil {
			faults = append(faults, fmt.Sprintf("%s.%s was not recorded", at, name))
		} else {
			faults = append(faults, compareShapes(at+"."+name, m, want.members[name])...)
		}
	}
	for name := range want.members {
		if have.members[name] == nil {
			faults = append(faults, fmt.Sprintf("%s.%s is missing", at, name))
		}
	}
	if want.element != nil || have.element != nil {
		faults = append(faults, compareShapes(at+"[]", have.element, want.element)...)
	}
	slices.Sort(faults)
	return faults
}

// toleratedKinds are differences that the recordings' README calls artefacts, or that vary there from row to row.
func toleratedKinds(at string, have, want *shape) bool {
	name := at[strings.LastIndexByte(at, '.')+1:]
	switch {
	case strings.HasPrefix(name, "pressure"):
		return true
	case name == "saved": // "1" or 1
		return want.kinds["text"] && have.kinds["text"]
	}
	return false
}

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
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", u.Host, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
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
