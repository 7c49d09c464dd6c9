package pvesim

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Limits of a request, as in the original.
const (
	maxBody        = 512 << 10
	maxHeaderLines = 64
)

// readValues takes the parameters from query and body, with the rules of the real HTTP server.
func readValues(r *http.Request) (values, *apiError) {
	v := values{}
	if err := v.addForm(r.URL.RawQuery); err != nil {
		return nil, err
	}
	if r.Method != http.MethodPost && r.Method != http.MethodPut {
		return v, nil
	}
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "application/json" {
		if len(bytes.TrimSpace(body)) == 0 {
			return v, nil
		}
		return v, v.addJSON(body)
	}
	return v, v.addForm(string(body))
}

// checkTransfer refuses what the real server cannot read; it comes before authentication.
func checkTransfer(r *http.Request) *apiError {
	switch r.Method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete:
	default:
		return serverError(501, "method '"+r.Method+"' not available", bodyNone)
	}
	for _, enc := range r.TransferEncoding {
		if strings.EqualFold(enc, "chunked") {
			return serverError(501, "chunked transfer encoding not supported", bodyText)
		}
	}
	lines := 0
	for _, vs := range r.Header {
		lines += len(vs)
	}
	if lines > maxHeaderLines {
		return serverError(400, "too many http header lines (> 64)", bodyText)
	}
	return nil
}

// checkBody refuses bodies by size, method and type; it comes after authentication.
func checkBody(r *http.Request) *apiError {
	if r.ContentLength <= 0 {
		return nil
	}
	if r.Method == http.MethodGet || r.Method == http.MethodDelete {
		return serverError(501, "Unexpected content for method '"+r.Method+"'", bodyText)
	}
	if r.ContentLength > maxBody {
		return serverError(501, "for data too large", bodyText)
	}
	ctype := r.Header.Get("Content-Type")
	if ctype == "" {
		return nil
	}
	kind, _, err := mime.ParseMediaType(ctype)
	if err != nil || kind != "application/x-www-form-urlencoded" && kind != "application/json" {
		return serverError(506, "upload 'Content-Type '"+ctype+"' not implemented", bodyText)
	}
	return nil
}

// readBody reads one byte more than is allowed, so that a longer body is
// noticed.
func readBody(r *http.Request) ([]byte, *apiError) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, serverError(500, "reading request body failed", bodyText)
	}
	return body, nil
}

// addForm splits at & and at ;, decodes, drops _dc and joins repeated keys to lists.
func (v values) addForm(s string) *apiError {
	for _, pair := range strings.FieldsFunc(s, func(r rune) bool { return r == '&' || r == ';' }) {
		key, val, _ := strings.Cut(pair, "=")
		k, err := url.QueryUnescape(key)
		if err != nil {
			k = key // like the real decoder: what is no escape stays as it is
		}
		text, err := url.QueryUnescape(val)
		if err != nil {
			text = val
		}
		if k == "_dc" {
			continue
		}
		v.add(k, paramValue{text: text})
	}
	return nil
}

// add adds a parameter. One that is sent again becomes a list.
func (v values) add(key string, p paramValue) {
	old, again := v[key]
	if !again {
		v[key] = p
		return
	}
	if !old.isList {
		old = paramValue{isList: true, list: []string{old.text}}
	}
	old.list = append(old.list, p.text)
	v[key] = old
}

// addJSON adds the parameters of a JSON body.
func (v values) addJSON(body []byte) *apiError {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		var wrongType *json.UnmarshalTypeError
		if errors.As(err, &wrongType) {
			return serverError(500, "Not a HASH reference at /usr/share/perl5/PVE/APIServer/AnyEvent.pm line 934.\n", bodyText)
		}
		return serverError(500, "'\"' expected, at character offset "+strconv.FormatInt(max(dec.InputOffset(), 1), 10)+
			" (before \""+excerpt(body[1:])+"\") at /usr/share/perl5/PVE/APIServer/AnyEvent.pm line 934.\n", bodyText)
	}
	for k, raw := range m {
		if k == "_dc" {
			continue
		}
		v[k] = fromJSON(raw)
	}
	return nil
}

// excerpt is the start of what the decoder stumbled over, kept to printable characters.
func excerpt(b []byte) string {
	s := strings.TrimRight(string(b[:min(len(b), 20)]), "}\n")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == '"' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

// fromJSON turns a decoded value into a parameter: true is 1 and false is 0.
func fromJSON(raw any) paramValue {
	switch x := raw.(type) {
	case string:
		return paramValue{text: x}
	case bool:
		if x {
			return paramValue{text: "1", isJSON: true}
		}
		return paramValue{text: "0", isJSON: true}
	case json.Number:
		return paramValue{text: x.String(), isJSON: true}
	case []any:
		p := paramValue{isList: true}
		for _, e := range x {
			p.list = append(p.list, fromJSON(e).text)
		}
		return p
	case nil:
		return paramValue{}
	}
	return paramValue{isList: true} // an object: no parameter takes one
}
