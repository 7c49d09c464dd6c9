package scripts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hostler/hostler/sdk/catalog"
)

// header is what a script says about itself in its first and last lines.
type header struct {
	App string
	// Values are the defaults of the variables var_…, such as "var_cpu". They
	// are texts as they stand there.
	Values  map[string]string
	Authors []string
	License string
	Sources []string
	Web     *catalog.Web
	// Update says that the script has an update of its own.
	Update bool
}

var (
	appLine   = regexp.MustCompile(`(?m)^APP=["']?([^"'\n$]*)["']?[ \t]*$`)
	valueLine = regexp.MustCompile(`(?m)^[ \t]*(?:export[ \t]+)?(var_[a-z0-9_]+)=` +
		`["']?(?:\$\{var_[a-z0-9_]+:-([^}"'\n]*)\}|([^"'$\n]*))["']?[ \t]*(?:#.*)?$`)
	commentLine = regexp.MustCompile(`(?mi)^#[ \t]*(Authors?|Co-Authors?|License|Source)[ \t]*:[ \t]*(.*)$`)
	address     = regexp.MustCompile(`https?://[^\s|"'<>(),;]+`)
	webAddress  = regexp.MustCompile(`(https?)://\$\{?(?:IP|LOCAL_IP|IPADDRESS)\}?(?::([0-9]{1,5}))?(/[^\s"'${}\\]*)?`)
	updateLine  = regexp.MustCompile(`(?m)^[ \t]*(?:function[ \t]+)?update_script[ \t]*\(\)`)
)

// parseHeader reads the assignments and comments at the top of a script by
// their form; it never runs the script. Anything it does not recognize is left
// out without an error, because the scripts are written by many people. The
// numbers of matches are limited. If a variable is assigned twice, the first
// assignment counts.
func parseHeader(script []byte) header {
	text := string(script)
	h := header{Values: map[string]string{}, Update: updateLine.MatchString(text)}
	if m := appLine.FindStringSubmatch(text); m != nil {
		h.App = line(m[1])
	}
	for _, m := range valueLine.FindAllStringSubmatch(text, 100) {
		if _, twice := h.Values[m[1]]; !twice {
			h.Values[m[1]] = line(m[2] + m[3])
		}
	}
	for _, m := range commentLine.FindAllStringSubmatch(text, 20) {
		value := line(m[2])
		switch strings.ToLower(m[1]) {
		case "license":
			if h.License == "" {
				name, _, _ := strings.Cut(value, "|")
				h.License = strings.TrimSpace(name)
			}
		case "source":
			h.Sources = append(h.Sources, addresses(value)...)
		default:
			h.Authors = append(h.Authors, people(value)...)
		}
	}
	h.Sources, h.Authors = h.Sources[:min(len(h.Sources), 50)], h.Authors[:min(len(h.Authors), 50)]
	h.Web = parseWeb(text)
	return h
}

// parseWeb returns the web address of the app, which the script prints at its
// end with the IP address as a variable. It is nil if there is none or the port
// is invalid. Without a port, the usual one of the protocol applies.
func parseWeb(text string) *catalog.Web {
	found := webAddress.FindAllStringSubmatch(afterBuild(text), -1)
	if len(found) == 0 {
		return nil
	}
	m := found[0]
	web := &catalog.Web{Protocol: m[1], Path: line(m[3])}
	switch {
	case m[2] != "":
		port, err := strconv.Atoi(m[2])
		if err != nil || port < 1 || port > 65535 {
			return nil
		}
		web.Port = port
	case m[1] == "https":
		web.Port = 443
	default:
		web.Port = 80
	}
	if web.Path == "" {
		web.Path = "/"
	}
	return web
}

// afterBuild returns the closing lines of a script, after the container was
// created. Addresses before them belong to downloads and not to the app.
func afterBuild(text string) string {
	if i := strings.LastIndex(text, "\ndescription"); i >= 0 {
		return text[i:]
	}
	return ""
}

// addresses returns up to ten different web addresses in a text.
func addresses(s string) (list []string) {
	for _, a := range address.FindAllString(s, 10) {
		if a = strings.TrimRight(a, "."); validURL(a) && !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}

// people splits a list of names at "|", "," and "&". It returns at most 20.
func people(s string) (list []string) {
	for _, name := range strings.FieldsFunc(s, func(r rune) bool { return r == '|' || r == ',' || r == '&' }) {
		if name = strings.TrimSpace(name); name != "" && len(list) < 20 {
			list = append(list, name)
		}
	}
	return list
}

// line turns text from a script into one line that is safe to show: valid
// UTF-8, no control characters, at most 1,000 bytes.
func line(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
	return cut(strings.TrimSpace(s), 1000)
}

// cut shortens a text to at most n bytes without splitting a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
