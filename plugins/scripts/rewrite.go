package scripts

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/catalog"
)

// release is the version of the rules for rewriting. It is part of the place of
// a bundle (see catalog.BundlePlace), so it must change whenever the same
// commit would be rewritten differently.
const release = "scripts-1"

// engineFolder is the folder of a bundle for the files of the second
// repository.
const engineFolder = "engine"

// rewriting are the rules for one pin: the addresses under which scripts load
// each other, and the folders of the bundle that replace them.
type rewriting struct {
	// bases are the beginnings of addresses, longest first, and folder is where
	// in the bundle their files are.
	bases []base
	// foreign finds addresses of scripts.
	foreign *regexp.Regexp
	// names are what an address of scripts has in it, in small letters.
	names [][]byte
}

// base is an address below which scripts fetch files, and the folder of the
// pinned copy that stands for it.
type base struct{ address, folder string }

// rewriting returns the replacements for the pin: addresses of the pinned
// repositories, in the forms that the scripts use, lead to the bundle. Longer
// addresses come first, so that a prefix does not hide them. foreign finds
// addresses of these repositories that no replacement covers; they make an app
// unavailable.
func (s state) rewriting() rewriting {
	var r rewriting
	var names []string
	for _, part := range s.pin {
		folder := ""
		if s.engine != nil && part.Repository == s.engineName {
			folder = "/" + engineFolder
		}
		for _, address := range []string{
			"https://raw.githubusercontent.com/" + part.Repository + "/main",
			"https://raw.githubusercontent.com/" + part.Repository + "/refs/heads/main",
			"https://git.community-scripts.org/" + part.Repository + "/raw/branch/main",
		} {
			r.bases = append(r.bases, base{address, folder})
		}
		names = append(names, regexp.QuoteMeta(part.Repository))
		r.names = append(r.names, bytes.ToLower([]byte(part.Repository)))
	}
	slices.SortFunc(r.bases, func(a, b base) int { return len(b.address) - len(a.address) })
	names = append(names, "community-scripts")
	r.names = append(r.names, []byte("community-scripts"))
	const end = "[^\\s\"'<>()|;`]*"
	r.foreign = regexp.MustCompile(`(?i)(?:[a-z][a-z0-9+.-]*://` + end + `(?:` + strings.Join(names, "|") + `)` + end +
		`|(?:raw\.githubusercontent\.com|codeload\.github\.com|cdn\.jsdelivr\.net/gh|git\.community-scripts\.org)/(?:` +
		strings.Join(names, "|") + `)` + end + `)`)
	return r
}

// harmless matches addresses of the community that may stay because none of
// them returns code: pages for people, images, and the two services that a
// script contacts while it runs, which the overlay blocks.
var harmless = regexp.MustCompile(`(?i)^https?://(?:` +
	`(?:www\.)?community-scripts\.org(?:$|[/\\$](?:scripts|donate|docs)?(?:$|[/\\$?#][^.]*$)|[/\\$]$)` +
	`|community-scripts\.github\.io/` +
	`|(?:telemetry|db)\.community-scripts\.org` +
	`|github\.com/[A-Za-z0-9_-]+/[A-Za-z0-9_-]+(?:$|[\\$]|\.?/?$` +
	`|/(?:issues|discussions|pull|blob|tree|wiki)(?:$|[/\\$?#])|/releases/?(?:$|[\\$]))` +
	`|(?:raw\.githubusercontent\.com|github\.com|git\.community-scripts\.org)/[^\s]*/(?:LICENSE|misc/images/[^\s/]+\.(?:png|svg|jpg|webp))$` +
	`)`)

// replace returns the content with all known addresses replaced by the folder
// of the bundle, and the number of replacements. Addresses of images stay,
// because they appear on a page for people and are not loaded by the script.
func (r rewriting) replace(content []byte, place string) (out []byte, n int) {
	scheme := []byte("https://")
	for {
		at := bytes.Index(content, scheme)
		if at < 0 {
			return append(out, content...), n
		}
		out = append(out, content[:at]...)
		content = content[at:]
		i := slices.IndexFunc(r.bases, func(b base) bool { return bytes.HasPrefix(content, []byte(b.address)) })
		if i < 0 {
			out, content = append(out, scheme...), content[len(scheme):]
			continue
		}
		found := r.bases[i]
		content = content[len(found.address):]
		if longer(content) || bytes.HasPrefix(content, []byte("/misc/images/")) { // a picture that a page of notes shows
			out = append(out, found.address...)
			continue
		}
		out = append(out, "file://"+catalog.BundleFolder+"/"+place+found.folder...)
		n++
	}
}

// longer reports whether the text after a base address continues its last name,
// such as "2" in "main2". That is another branch, which must not be replaced.
func longer(rest []byte) bool {
	if len(rest) == 0 {
		return false
	}
	c := rest[0]
	return c == '-' || c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// leftover is an address of scripts that no rule replaces, and its line.
type leftover struct {
	line int
	text string
}

// left returns the first address that would still load scripts from the
// internet after the replacements, or nil. Comments are skipped, and so are
// harmless addresses. For speed, the regular expression is applied only to
// lines with one of the names.
func (r rewriting) left(content []byte) *leftover {
	content, _ = r.replace(content, strings.Repeat("0", 64))
	number := 0
	for l := range bytes.Lines(content) {
		number++
		if t := bytes.TrimSpace(l); len(t) == 0 || t[0] == '#' {
			continue
		}
		lower := bytes.ToLower(l)
		if !slices.ContainsFunc(r.names, func(name []byte) bool { return bytes.Contains(lower, name) }) {
			continue
		}
		for _, found := range r.foreign.FindAll(l, -1) {
			if !harmless.Match(found) {
				return &leftover{number, cut(line(string(found)), 200)}
			}
		}
	}
	return nil
}
