package proxy

import (
	"errors"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// told is what believed proxies say of a request. What they do not say is zero.
type told struct {
	client netip.Addr
	scheme string // http or https
	host   string
}

// errContradiction is told to clients: the operator finds it when trying the proxy.
var errContradiction = errors.New("the proxy sends Forwarded and X-Forwarded-For headers that name different clients: let it delete " +
	"the one that it does not write itself, and list all trusted proxies")

// read finds the client that believed proxies tell of. Each proxy adds on the right whom it serves, and what stands on the left
// may be a client's invention: the client is the first address from the right that is no proxy of ours. Where one header was written
// by the proxy and another one has come from the client, which is which cannot be known: the two must agree.
func (c *Config) read(h http.Header) (told, error) {
	plain := c.plainHops(h)
	standard, err := parseForwarded(h.Values("Forwarded"))
	if err != nil {
		return told{}, err
	}
	byPlain, at := c.client(plain)
	byStandard, position := c.client(standard)
	if len(plain) > 0 && len(standard) > 0 && byPlain != byStandard {
		return told{}, errContradiction
	}
	t := told{client: byPlain}
	if len(plain) == 0 {
		t.client = byStandard
	}
	scheme := nth(h.Values("X-Forwarded-Proto"), at, len(plain))
	host := nth(h.Values("X-Forwarded-Host"), at, len(plain))
	if position >= 0 {
		if scheme == "" {
			scheme = standard[position].scheme
		}
		if host == "" {
			host = standard[position].host
		}
	}
	switch strings.ToLower(scheme) {
	case "https", "wss": // some proxies tell the scheme of a socket
		t.scheme = "https"
	case "http", "ws":
		t.scheme = "http"
	}
	if authority.MatchString(host) {
		t.host = host
	}
	return t, nil
}

// authority is a host with or without a port, as a Host header has it.
var authority = regexp.MustCompile(`^([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// hop is what one proxy tells of its client.
type hop struct{ address, scheme, host string }

func (c *Config) plainHops(h http.Header) []hop {
	var hops []hop
	for _, address := range list(h.Values("X-Forwarded-For")) {
		hops = append(hops, hop{address: address})
	}
	return hops
}

// list joins the values of a header that is a list, and may stand several times (RFC 9110 section 5.3).
func list(values []string) []string {
	var all []string
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			if part = strings.TrimSpace(part); part != "" {
				all = append(all, part)
			}
		}
	}
	return all
}

// client is the first address from the right that is no trusted proxy, and its position; the leftmost one where all are. A hop
// without an address that can be read ends the search: whoever told it is the last that is known, and an invalid address
// means that this is the peer. The position is -1 without any hops.
func (c *Config) client(hops []hop) (netip.Addr, int) {
	var client netip.Addr
	for i, h := range slices.Backward(hops) {
		address, ok := parseAddress(h.address)
		if !ok {
			return client, i
		}
		client = address
		if i == 0 || !c.trusts(address) {
			return client, i
		}
	}
	return client, -1
}

// parseAddress reads an address as proxies write it: bare, in brackets, with or without a port.
func parseAddress(text string) (netip.Addr, bool) {
	if address, ok := addressOf(text); ok {
		return address, true
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if text, ok = strings.CutSuffix(inner, "]"); !ok {
			return netip.Addr{}, false
		}
	}
	address, err := netip.ParseAddr(text)
	return address.Unmap().WithZone(""), err == nil
}

// nth is the element that belongs to the hop at a position among so many. A list of another length was not kept by each
// proxy: its last element is what the nearest one says.
func nth(values []string, position, hops int) string {
	all := list(values)
	switch {
	case len(all) == 0:
		return ""
	case len(all) == hops && position >= 0:
		return all[position]
	}
	return all[len(all)-1]
}

// parseForwarded reads the header of RFC 7239 section 4. It takes nothing that is not well-formed: a quotation that a client
// leaves open must not swallow what the proxy has added.
func parseForwarded(values []string) ([]hop, error) {
	var hops []hop
	for _, value := range values {
		for rest := value; ; {
			h, after, err := parseElement(rest)
			if err != nil {
				return nil, err
			}
			if h != nil {
				hops = append(hops, *h)
			}
			rest = after
			if rest == "" {
				break
			}
			rest = rest[1:] // the comma
		}
	}
	return hops, nil
}

// parseElement reads pairs up to a comma or the end; nil is an element without any. One that tells nothing of the client is a hop
// all the same: what stands before it was not told by the proxy that wrote it.
func parseElement(text string) (h *hop, rest string, err error) {
	for {
		text = strings.TrimLeft(text, " \t")
		end := strings.IndexAny(text, "=,;")
		if end < 0 && text != "" || end >= 0 && text[end] != '=' && strings.TrimSpace(text[:end]) != "" {
			return nil, "", errMalformed
		}
		if end >= 0 && text[end] == '=' {
			name := text[:end]
			var value string
			if value, text, err = parseValue(text[end+1:]); err != nil {
				return nil, "", err
			}
			if h == nil {
				h = &hop{}
			}
			switch strings.ToLower(name) {
			case "for":
				h.address = value
			case "proto":
				h.scheme = value
			case "host":
				h.host = value
			}
		}
		switch text = strings.TrimLeft(text, " \t"); {
		case text == "" || text[0] == ',':
			return h, text, nil
		case text[0] != ';':
			return nil, "", errMalformed
		}
		text = text[1:]
	}
}

var errMalformed = errors.New("the proxy sends a Forwarded header that is not well-formed (RFC 7239 section 4)")

// parseValue reads a token or a quoted string (RFC 9110 section 5.6).
func parseValue(text string) (value, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexAny(text, " \t,;")
		if end < 0 {
			end = len(text)
		}
		if end == 0 || strings.Contains(text[:end], `"`) {
			return "", "", errMalformed
		}
		return text[:end], text[end:], nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], nil
		case '\\':
			if i++; i == len(text) {
				return "", "", errMalformed
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", errMalformed
}
