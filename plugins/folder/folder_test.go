package folder_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/plugins/folder"
	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
	"github.com/hostler/hostler/sdk/plugin"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// apps is a folder with two apps and one that is not whole.
func apps(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"hello/app.json": `{"name":"Hello","categories":["Tools"],"tags":["small"],"web":{"protocol":"http","port":8080,"path":"/"},
			"defaults":{"cores":1,"memory_mb":256,"disk_gb":2,"os":"debian","os_version":"13"},"version_file":"/root/.hello",
			"overrides":[{"key":"greeting","type":"line","description":"What it says."},{"key":"password","type":"line","secret":true}]}`,
		"hello/ct.sh": "echo \"$var_hostname $var_cpu $var_greeting\"\necho 'Completed successfully!'\n", "hello/install.sh": "true\n",
		"hello/update.sh": "true\n", "hello/icon.png": "\x89PNG", "hello/lib/shared.sh": "true\n",
		"other/app.json": `{"name":"Other"}`, "other/ct.sh": "true\n", "other/install.sh": "true\n",
		"half/app.json": `{"name":"Half"}`, "half/ct.sh": "true\n",
		"README.md": "not an app\n", ".git/config": "hidden\n",
	})
	return dir
}

func config(dir string) catalog.Config {
	return catalog.Config{Options: map[string]string{"folder": dir}}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	dir := apps(t)
	changes := 0
	catalogtest.Run(t, catalogtest.Config{
		Source: folder.Source{}, CatalogType: (*folder.Catalog)(nil), Catalog: config(dir),
		Change: func(t *testing.T) {
			changes++
			write(t, dir, map[string]string{"other/install.sh": fmt.Sprintf("true # %d\n", changes)})
		},
	})
}

func open(t *testing.T, config catalog.Config) catalog.Catalog {
	t.Helper()
	if config.Cache == "" {
		config.Cache = t.TempDir()
	}
	c, err := folder.Source{}.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func sync(t *testing.T, c catalog.Catalog) (catalog.SyncResult, map[string]catalog.Entry, error) {
	t.Helper()
	entries := map[string]catalog.Entry{}
	synced, err := catalog.VerifySync(t.Context(), c, catalog.SyncRequest{}, nil, func(step catalog.SyncStep) error {
		if step.Entry != nil {
			entries[step.Entry.Slug] = *step.Entry
		}
		return nil
	})
	return synced, entries, err
}

// What is wrong with an app is told at the app, and others are there all the same.
func TestAppThatIsWrong(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"no JSON": "{", "two values": `{"name":"a"} {}`, "an unknown key": `{"name":"a","nmae":"b"}`, "no name": `{}`, "a number": `{"name":1}`,
		"a wrong port": `{"name":"a","web":{"protocol":"http","port":99999}}`, "a huge number": `{"name":"a","prompts":1e99}`,
		"a wrong type":        `{"name":"a","overrides":[{"key":"x","type":"anything"}]}`,
		"a page that is code": `{"name":"a","website":"javascript:x"}`,
		"takes a meaning":     `{"name":"a","overrides":[{"key":"ctid","type":"line"}]}`, "no twin": `{"name":"a","variant_of":"nobody"}`,
		"control characters": `{"name":"a\u0000b"}`, "too large": `{"name":"` + strings.Repeat("a", 300<<10) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := apps(t)
			write(t, dir, map[string]string{"other/app.json": content})
			_, entries, err := sync(t, open(t, config(dir)))
			if err != nil || entries["other"].Disabled == "" || entries["hello"].Disabled != "" || entries["half"].Removed == "" {
				t.Errorf("%v: %+v", err, entries["other"])
			}
		})
	}
}

// Nothing out of the folder is read, and nothing that is no file.
func TestHostileFolder(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, filepath.Dir(secret), map[string]string{"secret": "secret"})
	for name, make := range map[string]func(dir string) error{
		"a link to a file":   func(dir string) error { return os.Symlink(secret, filepath.Join(dir, "other", "lib.sh")) },
		"a link to a folder": func(dir string) error { return os.Symlink("/etc", filepath.Join(dir, "linked")) },
		"a link inside":      func(dir string) error { return os.Symlink("ct.sh", filepath.Join(dir, "other", "lib.sh")) },
		"a pipe":             func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "other", "pipe"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := apps(t)
			if err := make(dir); err != nil {
				t.Fatal(err)
			}
			if _, _, err := sync(t, open(t, config(dir))); plugin.KindOf(err) != plugin.Protocol {
				t.Error(err)
			}
		})
	}
	dir := apps(t)
	icons, _ := catalog.As[catalog.IconFetcher](open(t, config(dir)))
	if err := os.Remove(filepath.Join(dir, "hello", "icon.png")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "hello", "icon.png")); err != nil {
		t.Fatal(err)
	}
	if icon, err := icons.Icon(t.Context(), "hello/icon.png", ""); err == nil {
		t.Errorf("the icon is %q", icon.Data)
	}
	cache := filepath.Join(dir, "cache")
	for field, c := range map[string]catalog.Config{"folder": {Cache: cache, Options: map[string]string{"folder": dir}},
		"": config("/nowhere/at/all")} {
		opened, err := folder.Source{}.Open(t.Context(), c)
		if field != "" && plugin.KindOf(err) != plugin.Invalid {
			t.Errorf("a cache in the folder: %v", err)
		}
		if field == "" {
			if err := opened.Health(t.Context()); plugin.KindOf(err) != plugin.Refused {
				t.Errorf("a folder that is not there: %v", err)
			}
			_ = opened.Close()
		}
	}
}

// A script gets its environment, and says by a line that it succeeded.
func TestScriptRuns(t *testing.T) {
	t.Parallel()
	dir := apps(t)
	c := open(t, config(dir))
	synced, _, err := sync(t, c)
	if err != nil {
		t.Fatal(err)
	}
	request := catalog.LaunchRequest{Slug: "hello", Pin: synced.Begin.Pin, Purpose: catalog.Install, Place: strings.Repeat("a", 64),
		Name: "my-app",
		Tags: []string{"svc-job-1"}, RootStorage: "local", TemplateStorage: "local", Bridge: "br0",
		Overrides: map[string]string{"cpu": "3", "greeting": "$(id) 'hello'", "password": "canary"}}
	l, err := c.Launch(t.Context(), request)
	if err != nil || l.Program != "ct.sh" || !l.Push || l.VersionFile != "/root/.hello" {
		t.Fatalf("%+v, %v", l, err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(dir, "hello", l.Program))
	for _, v := range l.Environment {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
		if v.Secret != (v.Name == "var_password") {
			t.Errorf("%s is secret: %v", v.Name, v.Secret)
		}
	}
	out, err := cmd.Output()
	if err != nil || string(out) != "my-app 3 $(id) 'hello'\n"+l.Succeeded+"\n" {
		t.Errorf("%q, %v", out, err)
	}
	request.Purpose, request.Overrides = catalog.Update, nil
	if l, err := c.Launch(t.Context(), request); err != nil || l.Program != "update.sh" || l.Push {
		t.Errorf("%+v, %v", l, err)
	}
	request.Slug = "other"
	if _, err := c.Launch(t.Context(), request); plugin.KindOf(err) != plugin.NotFound {
		t.Errorf("an update of what has none: %v", err)
	}
}
