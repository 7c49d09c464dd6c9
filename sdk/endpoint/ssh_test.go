package endpoint_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestHostKeyFingerprints(t *testing.T) {
	t.Parallel()
	key := endpoint.HostKeyFingerprint([]byte("a key"))
	for _, text := range []string{key, " " + key + "\n", key + "="} {
		if got, err := endpoint.ParseHostKey(text); err != nil || got != key {
			t.Errorf("%q is read as %q, %v", text, got, err)
		}
		if !endpoint.EqualHostKey(text, key) {
			t.Errorf("%q differs", text)
		}
	}
	for _, text := range []string{"", "SHA256:", key[7:], key[:len(key)-1], key + "A", "MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48",
		strings.Replace(key, "SHA256:", "sha256:", 1), "SHA256:" + strings.Repeat("\x00", 43), key[:20] + "\n" + key[20:], key + "=="} {
		if got, err := endpoint.ParseHostKey(text); plugin.KindOf(err) != plugin.Invalid {
			t.Errorf("%q is read as %q, %v", text, got, err)
		}
		if endpoint.EqualHostKey(text, text) {
			t.Errorf("%q equals itself", text)
		}
	}
}
