package scripts

import "net/url"

// validURL reports whether s is an address that the web page may link to. Only
// http and https are allowed, which excludes "javascript:", and no user name or
// password.
func validURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}
