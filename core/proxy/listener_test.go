package proxy_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// version2 is a header of the second version (its section 2.2), for TCP over IPv4 unless family says otherwise.
func version2(command, family byte, source [4]byte) string {
	var b bytes.Buffer
	b.WriteString("\r\n\r\n\x00\r\nQUIT\n")
	b.Write([]byte{0x20 | command, family})
	_ = binary.Write(&b, binary.BigEndian, uint16(12))
	b.Write(source[:])
	b.Write([]byte{127, 0, 0, 1})
	_ = binary.Write(&b, binary.BigEndian, [2]uint16{5555, 443})
	return b.String()
}

func TestListenerTakesTheProxyProtocol(t *testing.T) {
	t.Parallel()
	const get = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	for _, tt := range []struct{ name, from, sent, want string }{
		{"version 1", "127.0.0.2", "PROXY TCP4 203.0.113.7 127.0.0.1 5555 443\r\n" + get, "203.0.113.7:5555"},
		{"version 1, IPv6", "127.0.0.2", "PROXY TCP6 2001:db8::7 ::1 5555 443\r\n" + get, "[2001:db8::7]:5555"},
		{"version 1, unknown", "127.0.0.2", "PROXY UNKNOWN\r\n" + get, "127.0.0.2:"},
		{"version 2", "127.0.0.2", version2(1, 0x11, [4]byte{203, 0, 113, 7}) + get, "203.0.113.7:5555"},
		{"version 2, the proxy itself", "127.0.0.2", version2(0, 0x11, [4]byte{203, 0, 113, 7}) + get, "127.0.0.2:"},
		{"version 2 about UDP", "127.0.0.2", version2(1, 0x12, [4]byte{203, 0, 113, 7}) + get, ""},
		{"no header", "127.0.0.2", get, "127.0.0.2:"},
		{"two headers", "127.0.0.2", "PROXY TCP4 203.0.113.7 127.0.0.1 5 4\r\nPROXY TCP4 6.6.6.6 127.0.0.1 5 4\r\n" + get, "400"},
		{"cut off", "127.0.0.2", "PROXY TCP4 203.0.113.7\r\n" + get, ""},
		{"endless", "127.0.0.2", "PROXY TCP4 " + strings.Repeat("1", 4096) + get, ""},
		{"a stranger", "127.0.0.3", "PROXY TCP4 6.6.6.6 127.0.0.1 5555 443\r\n" + get, "400"},
		{"a stranger's version 2", "127.0.0.3", version2(1, 0x11, [4]byte{6, 6, 6, 6}) + get, "400"},
		{"a stranger without a header", "127.0.0.3", get, "127.0.0.3:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = fmt.Fprint(w, "from "+r.RemoteAddr)
			}))
			server.Listener = way(t, "127.0.0.2", "").Listener(server.Listener)
			server.Start()
			defer server.Close()
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(tt.from)}}
			conn, err := dialer.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			if _, err := io.WriteString(conn, tt.sent); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(conn)
			got := string(answer)
			switch {
			case tt.want == "" && got != "" && !strings.HasPrefix(got, "HTTP/1.1 400"):
				t.Errorf("it was answered: %s", got)
			case tt.want == "400" && !strings.HasPrefix(got, "HTTP/1.1 400"):
				t.Errorf("%v %s", err, got)
			case tt.want != "" && tt.want != "400" && !strings.Contains(got, "from "+tt.want):
				t.Errorf("%v %s", err, got)
			}
			if strings.Contains(got, "6.6.6.6") {
				t.Error("a stranger is believed")
			}
		})
	}
}
