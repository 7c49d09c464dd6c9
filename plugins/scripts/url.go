package scripts

import "net/url"

// validURL reports whether a text is an address that the page may link to.
func validURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}
