package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	codeOfPage    = regexp.MustCompile("(?ms)^```.*?^```|``[^\n]*?``|`[^`\n]*`")
	linkOfPage    = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"`)
	headingOfPage = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	notInAnchor   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks checks every relative link of every Markdown file: the file exists, and so does the heading that an anchor names. make docs
// checks the pages of the site in the same way, but does not know the other files.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages := markdownBelow(t, "../..")
	links := 0
	for path, page := range pages {
		for _, match := range linkOfPage.FindAllStringSubmatch(codeOfPage.ReplaceAllString(page, ""), -1) {
			link := match[1] + match[2]
			if strings.Contains(link, ":") {
				continue
			}
			links++
			if fault := faultOfLink(path, link, pages); fault != "" {
				t.Errorf("%s: %s: %s", path, link, fault)
			}
		}
	}
	if len(pages) < 20 || links < 40 {
		t.Errorf("found only %d pages and %d links", len(pages), links)
	}
}

func TestFaultOfLink(t *testing.T) {
	t.Parallel()
	const path = "docs/a.md"
	page := "# One page\n\n## What it is, `x` & more\n\n```sh\n# not a heading\n```\n\n## Twice\n\n## Twice\n"
	pages := map[string]string{path: page, "docs/sub/b.md": "# B\n", "README.md": page}
	for link, want := range map[string]string{
		"sub/b.md": "", "sub/b.md#b": "", "../README.md#one-page": "", "#what-it-is-x--more": "", "#twice-1": "",
		"#twice-2": "no heading has this anchor", "#not-a-heading": "no heading has this anchor", "sub/b.md#c": "no heading has this anchor",
		"no.md": "no such file", "/docs/sub/b.md": "not a relative link", "../../../etc/passwd": "leaves the repository",
	} {
		if got := faultOfLink(path, link, pages); got != want {
			t.Errorf("%s: %q, want %q", link, got, want)
		}
	}
}

// faultOfLink returns why a relative link of the page at path leads nowhere, or "".
func faultOfLink(path, link string, pages map[string]string) string {
	name, anchor, hasAnchor := strings.Cut(link, "#")
	target := filepath.Join(filepath.Dir(path), name)
	switch {
	case strings.HasPrefix(name, "/"):
		return "not a relative link"
	case name == "":
		target = path
	case !filepath.IsLocal(target):
		return "leaves the repository"
	}
	page, isPage := pages[target]
	if _, err := os.Stat(filepath.Join("../..", target)); err != nil && !isPage {
		return "no such file"
	}
	if hasAnchor && !slices.Contains(anchorsOf(page), anchor) {
		return "no heading has this anchor"
	}
	return ""
}

// anchorsOf returns the anchors of a page's headings, as forges make them.
func anchorsOf(page string) []string {
	var anchors []string
	seen := map[string]int{}
	for _, match := range headingOfPage.FindAllStringSubmatch(regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(page, ""), -1) {
		text := regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`).ReplaceAllString(match[1], "$1")
		anchor := strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
		if n := seen[anchor]; n > 0 {
			anchors = append(anchors, fmt.Sprintf("%s-%d", anchor, n))
		} else {
			anchors = append(anchors, anchor)
		}
		seen[anchor]++
	}
	return anchors
}

// markdownBelow returns the text of each Markdown file of the repository, by its path within it.
func markdownBelow(t *testing.T, root string) map[string]string {
	t.Helper()
	pages := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() && (name == "bin" || name == ".git" || entry.Name() == "node_modules" || entry.Name() == "testdata") {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		pages[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}
