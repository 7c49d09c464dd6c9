package acmetest

import (
	"net"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// names serves the DNS until the test ends: every name is at 127.0.0.1 and has nothing else. It gives its address.
func names(t testing.TB) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		question := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(question)
			if err != nil {
				return
			}
			if text, err := answer(question[:n]); err == nil {
				_, _ = conn.WriteTo(text, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

func answer(question []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return nil, err
	}
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	for _, q := range m.Questions {
		if q.Type == dnsmessage.TypeA {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
				Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}})
		}
	}
	return m.Pack()
}
