package identity_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/core/identity"
)

func TestEmailsThatLookAlikeHaveOneKey(t *testing.T) {
	t.Parallel()
	for name, group := range map[string][]string{
		"case":       {"anna@example.com", "ANNA@EXAMPLE.COM", "  Anna@Example.com\n"},
		"full width": {"anna@example.com", "ａｎｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ"},
		"ligature":   {"office@example.com", "o\ufb03ce@example.com"},
		"kelvin":     {"karl@example.com", "\u212Aarl@example.com"},
		"sharp s":    {"strasse@example.com", "STRAẞE@example.com", "straße@example.com"},
		"composed":   {"ren\u00e9@example.com", "rene\u0301@example.com"},
		"punycode":   {"anna@bücher.example", "anna@xn--bcher-kva.example", "anna@BÜCHER.example"},
		"cyrillic":   {"coco@example.com", "сосо@example.com", "СОСО@example.com"},
		"domain":     {"anna@coco.com", "anna@сосо.com"},
		"long s":     {"sam@example.com", "\u017fam@example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, err := identity.ParseEmail(group[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, other := range group[1:] {
				if email, err := identity.ParseEmail(other); err != nil || email.Key != first.Key {
					t.Errorf("%q has the key %q (%v), %q has %q", other, email.Key, err, group[0], first.Key)
				}
			}
		})
	}
}

func TestEmailKeepsItsForm(t *testing.T) {
	t.Parallel()
	email, err := identity.ParseEmail(" Anna.Lee+ops@Example.com ")
	if err != nil || email.Address != "Anna.Lee+ops@Example.com" || email.Key != "anna.lee+ops@example.com" {
		t.Errorf("%+v, %v", email, err)
	}
}

func TestEmailsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, typed := range map[string]string{
		"empty": "", "no at": "anna", "no user": "@example.com", "no domain": "anna@", "two ats": "a@b@example.com",
		"name": "Anna <anna@example.com>", "brackets": "<anna@example.com>", "comment": "anna@example.com (Anna)",
		"quoted": `"anna lee"@example.com`,
		"two":    "a@example.com, b@example.com", "literal": "anna@[127.0.0.1]", "NUL": "an\x00na@example.com",
		"newline": "anna@example.com\nbcc@x.com",
		"header":  "anna@example.com\r\nTo: x", "zero width": "an\u200bna@example.com", "joiner": "an\u200dna@example.com",
		"soft hyphen":   "an\u00adna@example.com",
		"right to left": "an\u202ena@example.com", "cyrillic a": "\u0430nna@example.com", "greek o": "r\u03bf\u03bft@example.com",
		"mixed domain": "anna@ex\u0430mple.com",
		"space":        "an na@example.com", "dots": "an..na@example.com", "leading dot": ".anna@example.com",
		"bad domain": "anna@-example-.com", "empty label": "anna@example..com",
		"invalid UTF-8": "anna\xff@example.com", "long user": strings.Repeat("a", 65) + "@example.com",
		"long": "a@" + strings.Repeat("a.", 200) + "com",
		"huge": strings.Repeat("a", 1<<20) + "@example.com",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if email, err := identity.ParseEmail(typed); err == nil {
				t.Errorf("was taken as %+v", email)
			}
		})
	}
}

// An address that was taken is taken again, with the same key, in the form that is stored.
func FuzzParseEmail(f *testing.F) {
	for _, seed := range []string{"anna@example.com", "ANNA@BÜCHER.example", "ｏｆｆｉｃｅ@example.com", "a@xn--bcher-kva.example", "ß@ẞ.de",
		"o\ufb03ce@K.de", "a@b\u3002c", "сосо@сосо.рф", "a\u0345\u0301@b.c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		email, err := identity.ParseEmail(typed)
		if err != nil {
			return
		}
		again, err := identity.ParseEmail(email.Address)
		if err != nil || again != email {
			t.Errorf("%q is %+q and then %+q, %v", typed, email, again, err)
		}
		if byKey, err := identity.ParseEmail(email.Key); err == nil && byKey.Key != email.Key {
			t.Errorf("the key %q has the key %q", email.Key, byKey.Key)
		}
		if strings.ContainsAny(email.Key+email.Address, "\x00\r\n \"<>") || len(email.Key) > 4*254 {
			t.Errorf("%+q", email)
		}
	})
}
