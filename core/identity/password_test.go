package identity_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

func TestPasswordRules(t *testing.T) {
	t.Parallel()
	email, err := identity.ParseEmail("marianne@example.com")
	if err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]string{
		"":                                    "too_short",
		"elevenchars":                         "too_short",
		"äöüßäöüß":                            "too_short", // 16 bytes, 8 characters
		strings.Repeat("xK9!", 257):           "too_long",
		"tr0ub4dor&3-\x00-zebra":              "value_error",
		"tr0ub4dor&3-\xff-zebra":              "value_error",
		"marianne@example.com":                "same_as_email",
		"Marianne@Example.COM":                "same_as_email",
		"ｍａｒｉａｎｎｅ@example.com":                "same_as_email",
		"marianne123456":                      "same_as_email",
		"password1234":                        "too_common",
		"Password2024!":                       "too_common",
		"P@ssw0rd2024":                        "too_common",
		"passwordpassword":                    "too_common",
		"adminpassword1":                      "too_common",
		"p.a.s.s.w.o.r.d.1":                   "too_common",
		"ｐａｓｓｗｏｒｄ１２３４":                        "too_common",
		"qwertyuiop123":                       "too_common",
		"1qaz2wsx3edc":                        "too_common",
		"qwertzuiopasdf":                      "too_common",
		"123456789012":                        "too_common",
		"098765432109":                        "too_common",
		"aaaaaaaaaaaa":                        "too_common",
		"abcabcabcabc":                        "too_common",
		"abcdefghijkl":                        "too_common",
		"Hostler12345":                        "too_common",
		"proxmoxproxmox":                      "too_common",
		"CorrectHorseBatteryStaple":           "too_common",
		"ILoveYou!!!!!":                       "too_common",
		"welcome-welcome-1":                   "too_common",
		"123qweasdzxc":                        "too_common",
		"manchesterunited":                    "too_common",
		"!@#$%^&*()_+":                        "too_common",
		"mehlwurm-zebra-19":                   "",
		"Zt7#pQ9vLw2!":                        "",
		"the quick red fox slept":             "",
		"пароль-зебра-утро":                   "",
		"red-7381-9921-4417-0286":             "",
		"93471052868513":                      "",
		strings.Repeat("xK9!mQ2-", 128):       "", // 1024 bytes exactly
		"kücheneimer voller sägespäne":        "",
		"marianne-besitzt-sieben-gelbe-Esel.": "",
	} {
		err := identity.CheckPassword(password, email, "body", "password")
		got := ""
		if err != nil {
			p := problem.From(err)
			if p.Code != problem.CodeInvalid || len(p.Faults) != 1 {
				t.Fatalf("%q: %v", password, err)
			}
			got = p.Faults[0].Type
			if len(password) > 3 && strings.Contains(err.Error()+p.Faults[0].Msg, password) {
				t.Errorf("%q: the message repeats the password", password)
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", password, got, want)
		}
	}
}
