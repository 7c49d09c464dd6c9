package scripts

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/hostler/hostler/sdk/catalog"
)

// fetches finds lines that fetch what no pin reaches: releases of the app, packages, images, scripts of vendors.
var fetches = regexp.MustCompile(`\b(?:fetch_and_deploy_\w+|deploy_\w+|get_latest_\w+|setup_\w+|check_for_gh_\w+` +
	`|git[ \t]+clone|docker[ \t]+(?:pull|run|compose)|docker-compose` +
	`|(?:apt|apt-get|apk|npm|pnpm|yarn|pip3?|uv|cargo|go|gem|composer|bun)[ \t]+` +
	`(?:[a-zA-Z-]+[ \t]+)?(?:install|add|upgrade|update|sync|ci|get|pull)` +
	`|npx|add-apt-repository)\b` +
	`|\b(?:curl|wget)\b[^#]*https?://|\|[ \t]*(?:sudo[ \t]+)?(?:bash|sh)\b|<\(curl`)

// fetchesOf lists them for one file. Addresses that were rewritten are in the bundle and not among them.
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
