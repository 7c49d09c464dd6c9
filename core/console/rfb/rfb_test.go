package rfb_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/console/rfb"
)

// A client and a server of this package understand each other, whatever is said after them stays in its place.
func TestBothSides(t *testing.T) {
	t.Parallel()
	for _, right := range []bool{true, false} {
		client, server := net.Pipe()
		admitted := make(chan error, 1)
		go func() {
			err := rfb.Admit(server, "eight888")
			if err == nil {
				_, err = server.Write([]byte("next"))
			}
			server.Close()
			admitted <- err
		}()
		password := "eight888 and what comes after it counts for nothing"
		if !right {
			password = "Eight888"
		}
		err := rfb.Authenticate(client, password)
		if right {
			rest, _ := io.ReadAll(client)
			if err != nil || string(rest) != "next" {
				t.Errorf("%v, then %q", err, rest)
			}
		} else if err == nil || !strings.Contains(err.Error(), rfb.ErrPassword.Error()) {
			t.Errorf("with a wrong password: %v", err)
		}
		client.Close()
		if err := <-admitted; right != (err == nil) || !right && !errors.Is(err, rfb.ErrPassword) {
			t.Errorf("the server: %v", err)
		}
	}
}

// script is the other side of a conversation: what it says is fixed, and what it hears is kept.
type script struct {
	io.Reader
	heard bytes.Buffer
}

func (s *script) Write(p []byte) (int, error) { return s.heard.Write(p) }

const (
	challenge = "000102030405060708090a0b0c0d0e0f"
	// answer is openssl enc -des-ecb -nopad of the challenge under 0e86ceceeef64e26, the mirrored bits of "password".
	answer = "\xb8\x66\x92\x41\x25\xc8\xee\xbb\x9d\xeb\xc1\xdb\x61\xc5\x38\xe2"
)

// What servers of each version say, and what the client answers. The answer to the challenge is from elsewhere.
func TestAuthenticate(t *testing.T) {
	t.Parallel()
	raw, _ := hex.DecodeString(challenge)
	for name, tt := range map[string]struct {
		says, hears string
		fails       string
	}{
		"3.8 without a password":        {"RFB 003.008\n\x01\x01\x00\x00\x00\x00", "RFB 003.008\n\x01", ""},
		"3.8 of which both are offered": {"RFB 003.008\n\x02\x01\x02" + string(raw) + "\x00\x00\x00\x00", "RFB 003.008\n\x02" + answer, ""},
		"3.7 with a password":           {"RFB 003.007\n\x01\x02" + string(raw) + "\x00\x00\x00\x00", "RFB 003.007\n\x02" + answer, ""},
		"3.7 without one":               {"RFB 003.007\n\x01\x01", "RFB 003.007\n\x01", ""},
		"3.3 with a password":           {"RFB 003.003\n\x00\x00\x00\x02" + string(raw) + "\x00\x00\x00\x00", "RFB 003.003\n" + answer, ""},
		"3.3 without one":               {"RFB 003.003\n\x00\x00\x00\x01", "RFB 003.003\n", ""},
		"one of its own":                {"RFB 003.889\n\x01\x01\x00\x00\x00\x00", "RFB 003.008\n\x01", ""},
		"none of RFB":                   {"HTTP/1.1 400 Bad", "", "does not follow the RFB protocol"},
		"too old":                       {"RFB 002.000\n", "", "older than 3.3"},
		"nothing":                       {"", "", "EOF"},
		"unknown securities":            {"RFB 003.008\n\x02\x10\x13", "RFB 003.008\n", "[16 19]"},
		"an unknown security of 3.3":    {"RFB 003.003\n\x00\x00\x00\x10", "RFB 003.003\n", "16"},
		"refused at once":               {"RFB 003.008\n\x00\x00\x00\x00\x04busy", "RFB 003.008\n", "busy"},
		"refused at once by 3.3":        {"RFB 003.003\n\x00\x00\x00\x00\x00\x00\x00\x04busy", "RFB 003.003\n", "busy"},
		"a wrong password": {"RFB 003.008\n\x01\x02" + string(raw) + "\x00\x00\x00\x01\x00\x00\x00\x02no", "RFB 003.008\n\x02" + answer,
			"rejected the log-in: no"},
		"a wrong password of 3.7": {"RFB 003.007\n\x01\x02" + string(raw) + "\x00\x00\x00\x01", "RFB 003.007\n\x02" + answer,
			"rejected the password"},
		"an endless reason": {"RFB 003.008\n\x00\xff\xff\xff\xff" + strings.Repeat("x", 10000), "RFB 003.008\n",
			strings.Repeat("x", 4096)},
		"cut in the challenge": {"RFB 003.008\n\x01\x02\x00\x01", "RFB 003.008\n\x02", "unexpected EOF"},
	} {
		s := &script{Reader: strings.NewReader(tt.says)}
		err := rfb.Authenticate(s, "password")
		if (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) || s.heard.String() != tt.hears {
			t.Errorf("%s: %v, and heard %q, want %q", name, err, s.heard.String(), tt.hears)
		}
	}
}

// Clients of each version, and those that are none.
func TestAdmit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ says, fails string }{
		"3.8 with a wrong answer":  {"RFB 003.008\n\x02" + strings.Repeat("x", 16), rfb.ErrPassword.Error()},
		"3.3 with a wrong answer":  {"RFB 003.003\n" + strings.Repeat("x", 16), rfb.ErrPassword.Error()},
		"one that takes no cipher": {"RFB 003.008\n\x01", "security type 1, which was not offered"},
		"none of RFB":              {"GET / HTTP/1.1\r\n", "does not follow the RFB protocol"},
		"one that leaves":          {"RFB 003.008\n\x02abc", "unexpected EOF"},
	} {
		s := &script{Reader: strings.NewReader(tt.says)}
		if err := rfb.Admit(s, "password"); err == nil || !strings.Contains(err.Error(), tt.fails) {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.HasPrefix(s.heard.String(), "RFB 003.008\n") {
			t.Errorf("%s: heard %q", name, s.heard.String())
		}
	}
}

func FuzzAuthenticate(f *testing.F) {
	f.Add([]byte("RFB 003.008\n\x02\x01\x02\x00\x01\x02"))
	f.Add([]byte("RFB 003.003\n\x00\x00\x00\x02"))
	f.Fuzz(func(_ *testing.T, says []byte) {
		_ = rfb.Authenticate(&script{Reader: bytes.NewReader(says)}, "password")
		_ = rfb.Admit(&script{Reader: bytes.NewReader(says)}, "password")
	})
}
