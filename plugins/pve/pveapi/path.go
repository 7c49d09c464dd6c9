package pveapi

import (
	"net/url"
	"strings"

	"github.com/hostler/hostler/sdk/plugin"
)

// Path joins escaped segments to an API path. A segment that is empty or would
// lead to another folder is Invalid.
func Path(segments ...string) (string, error) {
	var path strings.Builder
	for _, s := range segments {
		if s == "" || s == "." || s == ".." || strings.ContainsRune(s, 0) {
			return "", plugin.Errorf(plugin.Invalid, "%q cannot be part of a path", s)
		}
		path.WriteByte('/')
		path.WriteString(url.PathEscape(s))
	}
	return path.String(), nil
}
