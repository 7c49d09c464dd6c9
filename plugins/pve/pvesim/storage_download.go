package pvesim

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// storageDownloadEndpoints serves downloads by nodes.
func storageDownloadEndpoints() []*endpoint {
	return []*endpoint{
		serve("POST", "/nodes/{node}/storage/{storage}/download-url", downloadURL),
		serve("GET", "/nodes/{node}/query-url-metadata", queryURL),
		serve("GET", "/nodes/{node}/aplinfo", listAppliances),
		serve("POST", "/nodes/{node}/aplinfo", downloadAppliance),
	}
}

// fileEndings are those of the names of files, by content.
var fileEndings = map[string][]string{
	"iso": {".iso", ".img"}, "vztmpl": {".tar.gz", ".tar.xz", ".tar.zst", ".tar.bz2", ".tar"}, "import": {".ova", ".qcow2", ".raw", ".vmdk"},
}

// downloadSize is how large every file is that is downloaded.
const downloadSize = 64 * mebibyte

// folder says why files of a content cannot be put on the storage.
func (s *storage) folder(content string) *apiError {
	switch {
	case !slices.Contains([]string{"dir", "nfs", "cifs", "btrfs", "cephfs"}, s.plugin):
		return failure("can't upload to storage type '%s', not a file based storage!", s.plugin)
	case !s.holdsAny([]string{content}):
		return failure("storage '%s' is not configured for content-type '%s'", s.id, content)
	}
	return nil
}

// downloadURL starts the download of a file. Nothing is fetched: the URL
// decides what the task does.
func downloadURL(r *request) (result, *apiError) {
	s, err := r.storage(r.values.text("storage"))
	content, name := r.values.text("content"), r.values.text("filename")
	if err == nil {
		err = s.folder(content)
	}
	if err != nil {
		return fail(err)
	}
	if !slices.ContainsFunc(fileEndings[content], func(e string) bool { return strings.HasSuffix(strings.ToLower(name), e) }) {
		return fail(badParameter("filename", "wrong file extension"))
	}
	return ok(r.download(s, content, name, r.values.text("url"), name))
}

// download starts the task that puts a file on a storage. A server whose name
// ends in .invalid, or that is the node itself, does not answer, and one does
// not have a file whose name begins with "missing".
func (r *request) download(s *storage, content, name, from, subject string) string {
	c, file := r.c, s.file(content+"/"+name)
	return c.startTask(r.node, r.who, "download", subject, &task{
		begin: func(t *task, now time.Time) (time.Duration, error) {
			t.say(now, "downloading %s to %s", from, file)
			switch {
			case s.hasImage(content, name):
				return 0, errors.New("refusing to override existing file '" + file + "'")
			case unanswered(from) != "":
				t.say(now, "/usr/bin/wget: unable to resolve host address ‘%s’", hostOf(from))
				return 0, errors.New("download failed: command '/usr/bin/wget' failed: exit code 4")
			case strings.HasPrefix(path.Base(from), "missing"):
				t.say(now, "HTTP request sent, awaiting response... 404 Not Found")
				t.say(now, "%s ERROR 404: Not Found.", now.UTC().Format(time.DateTime))
				return 0, fmt.Errorf("download failed: command '/usr/bin/wget --progress=dot:giga -O %s.tmp.1 %s' failed: exit code 8", file, from)
			}
			return c.taskDuration(), nil
		},
		finish: func(t *task, now time.Time) error {
			if s.usedAt(now)+downloadSize > s.size {
				return errors.New("download failed: No space left on device")
			}
			s.images = append(s.images, storageImage{content: content, name: name, size: downloadSize, ctime: now.Unix()})
			c.generation++
			t.say(now, "download of '%s' to '%s' finished", from, file)
			return nil
		},
	})
}

// hasImage reports whether a storage has a file.
func (s *storage) hasImage(content, name string) bool {
	return slices.ContainsFunc(s.images, func(i storageImage) bool { return i.content == content && i.name == name })
}

// hostOf is the server in a URL.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return u.Hostname()
}

// unanswered is why a server cannot be reached, in the words of the node; empty for one that can.
func unanswered(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "500 Bad URL"
	case strings.HasSuffix(u.Hostname(), unreachable):
		return "500 Can't connect to " + u.Host + " (Name or service not known)"
	case u.Hostname() == "127.0.0.1":
		return "500 Can't connect to " + u.Host + " (Connection refused)"
	}
	return ""
}

// queryURL returns the name and size of a file that could be downloaded.
func queryURL(r *request) (result, *apiError) {
	text := r.values.text("url")
	if why := unanswered(text); why != "" {
		return fail(failure("invalid server response: '%s'", why))
	}
	u, _ := url.Parse(text) // unanswered has parsed it
	return ok(map[string]any{"filename": path.Base(u.Path), "size": downloadSize, "mimetype": "application/octet-stream"})
}

// appliances are the templates that every node has heard of. A bare cluster has heard of none.
var appliances = []map[string]any{
	{"template": "debian-13-standard_13.1-2_amd64.tar.zst", "package": "debian-13-standard", "headline": "Debian 13 Trixie (standard)",
		"section": "system", "os": "debian-13", "version": "13.1-2", "type": "lxc", "architecture": "amd64",
		"source": "http://download.proxmox.com/images", "infopage": "https://www.debian.org", "maintainer": "support@example.com",
		"location":    "http://download.proxmox.com/images/system/debian-13-standard_13.1-2_amd64.tar.zst",
		"description": "A small Debian Trixie system including all standard packages.\n"},
	{"template": "alpine-3.22-default_20250617_amd64.tar.xz", "package": "alpine-3.22-default",
		"headline": "LXC default image for alpine 3.22",
		"section":  "system", "os": "alpine", "version": "20250617", "type": "lxc", "architecture": "amd64",
		"source": "http://download.proxmox.com/images", "infopage": "https://linuxcontainers.org", "maintainer": "support@example.com",
		"location":    "http://download.proxmox.com/images/system/alpine-3.22-default_20250617_amd64.tar.xz",
		"description": "LXC default image for alpine 3.22 (20250617)\n"},
}

// appliances returns the catalog of container templates.
func (c *Cluster) appliances() []map[string]any {
	if c.opts.Bare {
		return []map[string]any{}
	}
	return appliances
}

// listAppliances lists the catalog.
func listAppliances(r *request) (result, *apiError) { return ok(r.c.appliances()) }

// downloadAppliance starts the download of a template.
func downloadAppliance(r *request) (result, *apiError) {
	name := r.values.text("template")
	all := r.c.appliances()
	i := slices.IndexFunc(all, func(a map[string]any) bool { return a["template"] == name })
	if i < 0 {
		return fail(badParameter("template", "no such template"))
	}
	s, err := r.storage(r.values.text("storage"))
	if err != nil {
		return fail(err)
	}
	if s.folder("vztmpl") != nil {
		return fail(failure("Storage do not support templates!"))
	}
	return ok(r.download(s, "vztmpl", name, all[i]["location"].(string), ""))
}
