package scripts

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/hostler/hostler/sdk/catalog"
)

// fetches matches lines that download something that no pin covers: releases of
// the app, packages, images, or scripts of vendors. It may match too much; the
// list informs the person who approves the bundle and decides nothing.
var fetches = regexp.MustCompile(`\b(?:fetch_and_deploy_\w+|deploy_\w+|get_latest_\w+|setup_\w+|check_for_gh_\w+` +
	`|git[ \t]+clone|docker[ \t]+(?:pull|run|compose)|docker-compose` +
	`|(?:apt|apt-get|apk|npm|pnpm|yarn|pip3?|uv|cargo|go|gem|composer|bun)[ \t]+` +
	`(?:[a-zA-Z-]+[ \t]+)?(?:install|add|upgrade|update|sync|ci|get|pull)` +
	`|npx|add-apt-repository)\b` +
	`|\b(?:curl|wget)\b[^#]*https?://|\|[ \t]*(?:sudo[ \t]+)?(?:bash|sh)\b|<\(curl`)

// fetchesOf lists the downloads of one file that are not pinned. Lines whose
// addresses were all rewritten to the bundle are not among them. One file
// contributes at most a quarter of the list, so that the others are seen too.
func fetchesOf(file string, content []byte) (list []catalog.Fetch) {
	number := 0
	for l := range bytes.Lines(content) {
		number++
		l = bytes.TrimSpace(l)
		if len(l) == 0 || l[0] == '#' || !fetches.Match(l) {
			continue
		}
		if bytes.Contains(l, []byte("file://"+catalog.BundleFolder)) && !bytes.Contains(l, []byte("http")) {
			continue
		}
		list = append(list, catalog.Fetch{File: file, Line: number, Text: strings.TrimSpace(cut(line(string(l)), catalog.MaxUnpinnedText))})
		if len(list) == catalog.MaxUnpinned/4 {
			return list
		}
	}
	return list
}
