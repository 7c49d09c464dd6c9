package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/proxy"
)

func TestParseNetworks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "[]",
		" , ":                                "[]",
		"10.0.0.0/8,127.0.0.1, ::1 fd00::/8": "[10.0.0.0/8 127.0.0.1/32 ::1/128 fd00::/8]",
		"127.0.0.1,127.0.0.1/32":             "[127.0.0.1/32]",
		"::ffff:127.0.0.1":                   "[127.0.0.1/32]",
		"nginx":                              `"nginx" is not an address or a network like 10.0.0.0/8`,
		"10.0.0.0/33":                        `"10.0.0.0/33" is not an address or a network like 10.0.0.0/8`,
		"10.0.0.1/8":                         `"10.0.0.1/8" has bits beyond its prefix length: the network would be 10.0.0.0/8`,
		"0.0.0.0/0":                          `"0.0.0.0/0" includes everyone: list the addresses of the proxies`,
		"::/0":                               `"::/0" includes everyone`,
		"::ffff:10.0.0.0/104":                `"::ffff:10.0.0.0/104" is an IPv4 network: write it as one`,
		"fe80::1%eth0":                       `"fe80::1%eth0" has a zone`,
		"x,y":                                "\"x\" is not an address or a network like 10.0.0.0/8\n\"y\" is not an address",
	} {
		networks, err := proxy.ParseNetworks(text)
		got := fmt.Sprint(networks)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestParseBaseURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                  "<nil>",
		"https://Hostler.Example.com":       "https://hostler.example.com",
		"https://h.example/":                "https://h.example",
		"https://h.example:443":             "https://h.example",
		"http://h.example:80/a/b/":          "http://h.example/a/b",
		"http://h.example:443":              "http://h.example:443",
		"https://h:08443/x~1":               "https://h:8443/x~1",
		"https://192.0.2.7":                 "https://192.0.2.7",
		"https://[2001:DB8::7]:8443":        "https://[2001:db8::7]:8443",
		"h.example":                         "it is not a URL like https://hostler.example.com",
		"ftp://h.example":                   "it is not a URL",
		"https:h.example":                   "it is not a URL",
		"https:///x":                        "it is not a URL",
		"https://h.example\x00":             "it is not a URL",
		"https://anna:geheim@h.example":     "a base URL must not have a user or password",
		"https://h.example?x=1":             "a base URL must not have a query or fragment",
		"https://h.example?":                "a base URL must not have a query",
		"https://h.example#":                "a base URL must not have a query",
		"https://h.example:":                "the port after the colon is missing",
		"https://h.example:0":               "0 is not a port",
		"https://h.example:65536":           "65536 is not a port",
		"https://münchen.example":           `"münchen.example" is not a host`,
		"https://-a.example":                `"-a.example" is not a host`,
		"https://[fe80::1%25eth0]":          "the address of a base URL must not have a zone",
		"https://h.example/a/../b":          "the path /a/../b has a segment",
		"https://h.example/a//b":            "the path /a//b has a segment",
		"https://h.example/a%20b":           "the path /a%20b has a segment",
		"https://h.example/api":             "the path must not start with /api",
		"https://h.example/metrics/hostler": "the path must not start with /metrics",
	} {
		base, err := proxy.ParseBaseURL(text)
		got := fmt.Sprint(base)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || err == nil && got != want {
			t.Errorf("%q: %s", text, got)
		}
		if strings.Contains(got, "geheim") {
			t.Error("the refusal repeats the password")
		}
	}
}
