package plugin_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/plugin"
)

func TestHideSecrets_EverySpelling(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{
		"canary-8f2a", `ca na+ry/"\&=?<é😀%41`, "0123456789abcdef0123456789abcdef", "token=pct%2Bencoded&x=ü",
	} {
		quoted, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		ascii := strings.Trim(fmt.Sprintf("%+q", secret), `"`)
		inJSON := string(quoted[1 : len(quoted)-1])
		forms := map[string]string{
			"raw": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret), "HTML": html.EscapeString(secret),
			"lower-case percent": lowerPercent(url.QueryEscape(secret)), "JSON": inJSON, "ASCII": ascii,
			"slashes of JSON": strings.ReplaceAll(inJSON, "/", `\/`), "twice escaped": url.QueryEscape(url.QueryEscape(secret)),
			"query in JSON": strings.ReplaceAll(url.QueryEscape(secret), "+", `\u002b`), "JSON in HTML": html.EscapeString(inJSON),
			"every letter": everyLetter(secret),
		}
		for before := range 4 {
			user := "operator:"[:before]
			for name, text := range map[string]string{"": secret, " of query": url.QueryEscape(secret)} {
				std := base64.StdEncoding.EncodeToString([]byte(user + text + " and more"))
				forms[fmt.Sprintf("base64%s behind %d bytes", name, before)] = std
				forms[fmt.Sprintf("base64%s for URLs behind %d bytes", name, before)] =
					base64.URLEncoding.EncodeToString([]byte(user + text + "\xff\xfe"))
				forms[fmt.Sprintf("base64%s in a query behind %d bytes", name, before)] = url.QueryEscape(std)
			}
		}
		for name, form := range forms {
			if got := plugin.HideSecrets("before "+form+", "+form+" after", "other", secret); got != "before [secret], [secret] after" {
				t.Errorf("%s of %q: %s", name, secret, got)
			}
		}
		for _, text := range []string{"", "nothing", "50% of 100%2 + 3 \\ &amp; &nothing; \\u12", strings.Repeat("a+%41\\n", 100)} {
			if got := plugin.HideSecrets(text, secret); got != text {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
	if got := plugin.HideSecrets("ab abc b", "ab", "", "abc", "bc"); got != "[secret] [secret] b" {
		t.Errorf("secrets in one another: %s", got)
	}
}

func lowerPercent(text string) string {
	for i := 0; i+2 < len(text); i++ {
		if text[i] == '%' {
			text = text[:i] + strings.ToLower(text[i:i+3]) + text[i+3:]
		}
	}
	return text
}

// everyLetter escapes even letters that need none.
func everyLetter(text string) string {
	var all strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&all, "%%%02x", text[i])
	}
	return all.String()
}

func TestHideSecrets_URLs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"downloading https://example.com/a.iso?X-Sig=canary&y=1 to /x": "downloading https://example.com/a.iso?[secret] to /x",
		`{"url":"https:\/\/example.com\/a?sig=canary","x":1}`:          `{"url":"https:\/\/example.com\/a?[secret]","x":1}`,
		"s3://me:canary@store/a, http://u:canary@b":                    "s3://[secret]@store/a, http://[secret]@b",
		"Location: http://example.com?canary#part [following]":         "Location: http://example.com?[secret]#part [following]",
		"https://example.com/a#part; did you mean https://b?":          "https://example.com/a#part; did you mean https://b?",
		"ssh://root@pve1, https://[fd00::1]:8006/ at 10:00 root@pam":   "ssh://root@pve1, https://[fd00::1]:8006/ at 10:00 root@pam",
	} {
		if got := plugin.HideSecrets(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}
