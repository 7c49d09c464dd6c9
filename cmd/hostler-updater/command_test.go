package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	c := command()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&out)
	c.SetArgs(args)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

// write makes a configuration that touches nothing outside dir.
func write(t *testing.T, dir, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, "updater.json")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "DIR", dir)), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

const good = `{"prefix":"DIR/opt","state_dir":"DIR/state","keys":"DIR/keys","request":"DIR/request.json","source":"DIR/releases"}`

func TestConfigurationsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		mode os.FileMode
		says string
	}{
		"not JSON":          {"{", 0o644, "reading the configuration"},
		"a typo":            {`{"sources":"x"}`, 0o644, "unknown field"},
		"two values":        {good + "{}", 0o644, "more than one"},
		"written by others": {good, 0o666, "writable by users other"},
		"relative":          {`{"prefix":"opt","source":"/x"}`, 0o644, "absolute"},
		"database's name":   {`{"source":"/x","database":{"name":"a;b"}}`, 0o644, "only lower-case letters"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, t.TempDir(), test.text, test.mode)
			if _, err := run(t, "run", "--config", path); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := run(t, "status", "--config", filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("there was no configuration")
	}
}

func TestWithNothingInstalled(t *testing.T) {
	t.Parallel()
	path := write(t, t.TempDir(), good, 0o600)
	for _, test := range []struct {
		args []string
		out  string
		err  string
	}{
		{[]string{"status"}, "No updates yet.", ""},
		{[]string{"resume"}, "Nothing to do.", ""},
		{[]string{"run", "--requested"}, "", ""},
		{[]string{"run"}, "", "current release"},
		{[]string{"rollback"}, "", "no update to revert"},
		{[]string{"rollback", "now"}, "", "unknown command"},
	} {
		out, err := run(t, append(test.args, "--config", path)...)
		if !strings.Contains(out, test.out) || (err == nil) != (test.err == "") || (err != nil && !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%v: %q, %v", test.args, out, err)
		}
	}
}
