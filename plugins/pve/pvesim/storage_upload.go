package pvesim

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// uploadEndpoints serves uploads.
func uploadEndpoints() []*endpoint {
	return []*endpoint{serve("POST", uploadPath, storeUpload)}
}

// uploadPath is the one path at which a form with a file is taken.
const uploadPath = "/nodes/{node}/storage/{storage}/upload"

// upload is a file that has arrived. Its bytes are not kept.
type upload struct {
	size int64
	sums map[string]string // by algorithm: sha256, and the one that was asked for
}

// File is what [Cluster.Files] tells of an image.
type File struct {
	Storage, Content, Name string
	Size                   int64
	// SHA256 is empty for an image that was not uploaded.
	SHA256 string
}

// Files lists the images on all storages.
func (c *Cluster) Files() []File {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	var all []File
	for _, s := range c.storages {
		for _, i := range s.images {
			all = append(all, File{s.id, i.content, i.name, i.size, i.sha256})
		}
	}
	return all
}

// algorithms are the checksums that an upload can name.
var algorithms = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
}

// boundaryOf reads the boundary of a form as the real server does; empty where
// it would not find one.
func boundaryOf(contentType string) string {
	parts := regexp.MustCompile(`\s*[;,]\s*`).Split(contentType, -1)
	if parts[0] != "multipart/form-data" {
		return ""
	}
	for _, p := range parts[1:] {
		if m := regexp.MustCompile(`^\s*boundary\s*=\s*(\S+?)\s*$`).FindStringSubmatch(p); m != nil {
			return m[1]
		}
	}
	return ""
}

// readUpload takes a form with a file in, while it arrives, and then its
// fields, which stand before the file.
func (c *Cluster) readUpload(r *http.Request) (values, *upload, *apiError) {
	boundary := boundaryOf(r.Header.Get("Content-Type"))
	switch {
	case r.ContentLength <= 0:
		v, err := readValues(r)
		return v, nil, err
	case boundary == "":
		return nil, nil, serverError(506, "upload 'Content-Type '"+r.Header.Get("Content-Type")+"' not implemented", bodyText)
	}
	v := values{}
	if err := v.addForm(r.URL.RawQuery); err != nil {
		return nil, nil, err
	}
	if v.has("tmpfilename") {
		return nil, nil, serverError(501, "'tmpfilename' query parameter is not allowed for file uploads", bodyText)
	}
	form := &uploadForm{body: bufio.NewReaderSize(r.Body, 64<<10), boundary: boundary, values: v,
		room: c.server.uploadRoom.Load() - 1}
	file, err := form.read()
	if err != nil {
		return nil, nil, serverError(500, err.Error(), bodyText)
	}
	return v, file, nil
}

// uploadForm is a form while it is read.
type uploadForm struct {
	body     *bufio.Reader
	boundary string
	values   values
	// room is how many bytes of the file there is room for; negative for any number.
	room int64
}

var (
	errUpload   = errors.New("upload failed")
	errSpool    = errors.New("write to temporary file failed - No space left on device")
	disposition = regexp.MustCompile(`^Content-Disposition: (.*?); name="(.*?)"(?:; filename="([^"]+)")?`)
)

// read reads the fields and then the file. What follows the file is not looked at.
func (f *uploadForm) read() (*upload, error) {
	for {
		line, err := f.body.ReadSlice('\n')
		if err != nil {
			return nil, errUpload
		}
		if strings.TrimRight(string(line), "\r\n") == "--"+f.boundary {
			break
		}
	}
	for {
		first, err := f.line()
		if err != nil {
			return nil, err
		}
		m := disposition.FindStringSubmatch(first)
		switch {
		case m == nil:
			return nil, errUpload
		case m[1] != "form-data":
			return nil, fmt.Errorf("wrong Content-Disposition '%s' in multipart, expected 'form-data'", m[1])
		}
		for line := first; line != ""; { // the other headers
			if line, err = f.line(); err != nil {
				return nil, err
			}
		}
		if m[3] != "" {
			if m[2] != "filename" {
				return nil, fmt.Errorf("wrong field name '%s' for file upload, expected 'filename'", m[2])
			}
			f.values.add("filename", paramValue{text: strings.TrimSpace(m[3])})
			return f.file()
		}
		if !slices.Contains([]string{"content", "checksum-algorithm", "checksum"}, m[2]) {
			return nil, errUpload
		}
		value, err := f.line()
		if err != nil {
			return nil, err
		}
		f.values.add(m[2], paramValue{text: strings.TrimSpace(value)})
		if next, err := f.line(); err != nil || next != "--"+f.boundary {
			return nil, errUpload
		}
	}
}

// line reads one line of a form.
func (f *uploadForm) line() (string, error) {
	line, err := f.body.ReadSlice('\n')
	if err != nil {
		return "", errUpload
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// file reads the file up to the end of the form.
func (f *uploadForm) file() (*upload, error) {
	up := &upload{sums: map[string]string{}}
	hashes := map[string]hash.Hash{"sha256": sha256.New()}
	if wanted := f.values.text("checksum-algorithm"); algorithms[wanted] != nil && wanted != "sha256" {
		hashes[wanted] = algorithms[wanted]()
	}
	take := func(p []byte) error {
		if up.size += int64(len(p)); f.room >= 0 && up.size > f.room {
			return errSpool
		}
		for _, h := range hashes {
			_, _ = h.Write(p)
		}
		return nil
	}
	end := []byte("--" + f.boundary + "--")
	for {
		window, err := f.body.Peek(f.body.Size())
		if at := bytes.Index(window, end); at >= 0 {
			data := bytes.TrimSuffix(window[:at], []byte("\n"))
			if len(data) < at {
				data = bytes.TrimSuffix(data, []byte("\r"))
			}
			if err := take(data); err != nil {
				return nil, err
			}
			_, _ = f.body.Discard(len(window))
			_, _ = io.Copy(io.Discard, f.body)
			break
		}
		if err != nil {
			return nil, errUpload
		}
		n := len(window) - len(end) - 2
		if err := take(window[:n]); err != nil {
			return nil, err
		}
		_, _ = f.body.Discard(n)
	}
	for name, h := range hashes {
		up.sums[name] = hex.EncodeToString(h.Sum(nil))
	}
	return up, nil
}

// uploadNames are the names that files may have, after all other characters became underscores.
var uploadNames = map[string]*regexp.Regexp{
	"iso":    regexp.MustCompile(`(?i)[^/]+\.(?:iso|img)$`),
	"vztmpl": regexp.MustCompile(`(?i)[^/]+\.(?:tar|tar\.(?:gz|xz|zst|bz2))$`),
	"import": regexp.MustCompile(`[a-zA-Z0-9\-.+=_]+\.(?:ova|qcow2|raw|vmdk)$`),
}

var (
	beforeName  = regexp.MustCompile(`^.*[/\\]`)
	notInName   = regexp.MustCompile(`[^a-zA-Z0-9_.-]`)
	withoutPath = []string{"lvm", "lvmthin", "zfspool", "rbd", "iscsi", "iscsidirect", "pbs", "zfs"}
)

// storeUpload begins the task that copies the file to the storage. The node
// that was called has it, and does so for other nodes too.
func storeUpload(r *request) (result, *apiError) {
	content, node := r.values.text("content"), r.values.text("node")
	if node != "localhost" {
		if r.node = r.c.nodeByName(node); r.node == nil {
			return fail(failure("hostname lookup '%s' failed - failed to get address info for: %s: Name or service not known", node, node))
		}
	}
	s := r.c.storageByID(r.values.text("storage"))
	if s == nil || !s.on(r.node.name) || s.disabled {
		_, err := r.storage(r.values.text("storage"))
		return fail(err)
	}
	switch {
	case slices.Contains(withoutPath, s.plugin):
		return fail(failure("can't upload to storage type '%s'", s.plugin))
	case r.upload == nil:
		return fail(failure("missing temporary file name"))
	}
	name := notInName.ReplaceAllString(beforeName.ReplaceAllString(r.values.text("filename"), ""), "_")
	switch {
	case !uploadNames[content].MatchString(name) && content == "import":
		return fail(badParameter("filename", "invalid filename or wrong extension"))
	case !uploadNames[content].MatchString(name):
		return fail(badParameter("filename", "wrong file extension"))
	case !s.holdsAny([]string{content}):
		return fail(failure("storage '%s' does not support '%s' content", s.id, content))
	}
	if _, err := r.storage(s.id); err != nil {
		return fail(err) // it does not answer
	}
	return ok(r.c.startTask(r.entry, r.who, "imgcopy", "", r.importTask(s, content, name)))
}

// importTask compares the checksum and copies the file.
func (r *request) importTask(s *storage, content, name string) *task {
	c, up, algorithm, want := r.c, r.upload, r.values.text("checksum-algorithm"), r.values.text("checksum")
	dest := s.file(content + "/" + name)
	t := &task{}
	t.begin = func(t *task, now time.Time) (time.Duration, error) {
		t.say(now, "starting file import from: /var/tmp/pveupload-%s", up.sums["sha256"][:32])
		if algorithm != "" {
			if got := up.sums[algorithm]; !strings.EqualFold(got, want) {
				t.say(now, "calculating checksum...")
				return 0, fmt.Errorf("checksum mismatch: got '%s' != expect '%s'", got, want)
			}
			t.say(now, "calculating checksum...OK, checksum verified")
		}
		t.say(now, "target node: %s", r.node.name)
		t.say(now, "target file: %s", dest)
		t.say(now, "file size is: %d", up.size)
		t.say(now, "command: cp -- /var/tmp/pveupload-%s %s", up.sums["sha256"][:32], dest)
		return c.taskDuration(), nil
	}
	t.finish = func(t *task, now time.Time) error {
		at := slices.IndexFunc(s.images, func(i storageImage) bool { return i.content == content && i.name == name })
		if s.usedAt(now)+up.size > s.size {
			if at >= 0 {
				s.images = slices.Delete(s.images, at, at+1) // it was being overwritten
			}
			return fmt.Errorf("import failed: cp: error writing '%s': No space left on device", dest)
		}
		if at >= 0 {
			s.images = slices.Delete(s.images, at, at+1)
		}
		s.images = append(s.images, storageImage{content: content, name: name, size: up.size, ctime: now.Unix(), sha256: up.sums["sha256"]})
		c.generation++
		t.say(now, "finished file import successfully")
		return nil
	}
	return t
}
