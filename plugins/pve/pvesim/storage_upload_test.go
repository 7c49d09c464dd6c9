package pvesim_test

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"
)

const (
	edge     = "--b\r\n"
	fileHead = "Content-Disposition: form-data; name=\"filename\"; filename=\"a.iso\"\r\n\r\n"
)

func field(name, value string) string {
	return edge + "Content-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
}

func (a caller) form(path, kind, body string) rawAnswer {
	a.t.Helper()
	return send(a.t, a.base, rawRequest{method: "POST", path: "/api2/json" + path, body: body, header: map[string]string{
		"Authorization": "PVEAPIToken=" + a.token.ID + "=" + a.token.Secret, "Content-Type": kind,
	}})
}

// The form of an upload is read as the real server reads it: what it would not find is refused.
func TestFormOfAnUpload(t *testing.T) {
	t.Parallel()
	c := newScenario(t, 2)
	root := as(t, c, c.AdminToken())
	const path, kind = "/nodes/pve1/storage/local/upload", "multipart/form-data; boundary=b"
	good := field("content", "iso") + edge + fileHead + "abc\r\n--b--\r\n"
	for name, test := range map[string]struct {
		path, kind, body string
		status           int
		reason           string
	}{
		"good":            {path, kind, good, 200, "OK"},
		"of another node": {"/nodes/pve2/storage/local/upload", kind, good, 200, "OK"},
		"no form": {path, "application/x-www-form-urlencoded", "content=iso", 506,
			"upload 'Content-Type 'application/x-www-form-urlencoded' not implemented"},
		"no boundary": {path, "multipart/form-data", good, 506, "upload 'Content-Type 'multipart/form-data' not implemented"},
		"file first": {path, kind, edge + fileHead + "abc\r\n" + field("content", "iso") + "--b--\r\n", 400,
			"Parameter verification failed."},
		"field name": {path, kind, field("content", "iso") + edge + strings.Replace(fileHead, `"filename"`, `"file"`, 1) +
			"abc\r\n--b--\r\n", 500, "wrong field name 'file' for file upload, expected 'filename'"},
		"another field":   {path, kind, field("node", "pve1") + good, 500, "upload failed"},
		"not closed":      {path, kind, strings.TrimSuffix(good, "--b--\r\n"), 500, "upload failed"},
		"empty file name": {path, kind, strings.Replace(good, "a.iso", "", 1), 500, "upload failed"},
		"temporary file": {path + "?tmpfilename=/var/tmp/pveupload-0", kind, good, 501,
			"'tmpfilename' query parameter is not allowed for file uploads"},
		"no checksum": {path, kind, field("checksum-algorithm", "sha256") + good, 400, "Parameter verification failed."},
		"no such node": {"/nodes/pve9/storage/local/upload", kind, good, 500,
			"hostname lookup 'pve9' failed - failed to get address info for: pve9: Name or service not known"},
		"disks only": {"/nodes/pve1/storage/local-lvm/upload", kind, good, 500, "can't upload to storage type 'lvmthin'"},
		"not set up": {path, kind, strings.NewReplacer("a.iso", "a.ova", "\r\niso", "\r\nimport").Replace(good), 500,
			"storage 'local' does not support 'import' content"},
	} {
		if a := root.form(test.path, test.kind, test.body); a.status != test.status || a.reason != test.reason {
			t.Errorf("%s: %d %s, want %d %s", name, a.status, a.reason, test.status, test.reason)
		}
	}
}

// A file for which there is no room below /var/tmp is refused while it arrives.
func TestUploadToAFullNode(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	before, tasks := len(c.Files()), len(c.Tasks())
	c.SetUploadRoom(2)
	body := field("content", "iso") + edge + fileHead + "abc\r\n--b--\r\n"
	a := as(t, c, c.AdminToken()).form("/nodes/pve1/storage/local/upload", "multipart/form-data; boundary=b", body)
	if a.status != 500 || a.reason != "write to temporary file failed - No space left on device" {
		t.Errorf("%d %s", a.status, a.reason)
	}
	if files, all := c.Files(), c.Tasks(); len(files) != before || len(all) != tasks {
		t.Errorf("there are %+v and %+v", files, all)
	}
}

// An upload whose sender leaves in the middle leaves no file and no task.
func TestUploadThatBreaksOff(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	before, tasks, token := len(c.Files()), len(c.Tasks()), c.AdminToken()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(c.URL(""), "https://"), &tls.Config{InsecureSkipVerify: true})
	noError(t, err)
	_, err = conn.Write([]byte("POST /api2/json/nodes/pve1/storage/local/upload HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n" +
		"Authorization: PVEAPIToken=" + token.ID + "=" + token.Secret + "\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n" +
		field("content", "iso") + edge + fileHead + "abc"))
	noError(t, err)
	noError(t, conn.CloseWrite())
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	_, _ = conn.Read(make([]byte, 100)) // the server has given up
	_ = conn.Close()
	if files, all := c.Files(), c.Tasks(); len(files) != before || len(all) != tasks {
		t.Errorf("there are %+v and %+v", files, all)
	}
}
