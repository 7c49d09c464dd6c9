package terminal

import "testing"

// Each way to leave takes out what is meant for it, wherever what was typed is cut, and nothing else.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		keys  KeyFilter
		typed []string
		want  string
		leave bool
	}{
		{&Bracket{}, []string{"ls\r"}, "ls\r", false},
		{&Bracket{}, []string{"ls\x1d.rest"}, "ls", true},
		{&Bracket{}, []string{"a\x1d", ".b"}, "a", true},
		{&Bracket{}, []string{"\x1d\x1d."}, "\x1d.", false},
		{&Bracket{}, []string{"\x1dx", "."}, "\x1dx.", false},
		{&Bracket{}, []string{"\x1d", "\x1d", "\x1d", "."}, "\x1d", true},
		{&Tilde{}, []string{"~.rest"}, "", true},
		{&Tilde{}, []string{"ls\r~", "."}, "ls\r", true},
		{&Tilde{}, []string{"cd ~.x\r"}, "cd ~.x\r", false},
		{&Tilde{}, []string{"~~.\r"}, "~.\r", false},
		{&Tilde{}, []string{"~/bin\r~", "a"}, "~/bin\r~a", false},
		{&Tilde{}, []string{"~\r~."}, "~\r", true},
		{plain{}, []string{"a\x1d.\r~."}, "a\x1d.\r~.", false},
	} {
		var got []byte
		left := false
		for _, p := range tt.typed {
			out, leave := tt.keys.Filter([]byte(p))
			got, left = append(got, out...), left || leave
		}
		if string(got) != tt.want || left != tt.leave {
			t.Errorf("%T %q: %q %v", tt.keys, tt.typed, got, left)
		}
	}
}
