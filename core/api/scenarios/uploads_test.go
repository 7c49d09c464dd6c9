package scenarios

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/jobs"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/settings"
	"github.com/hostler/hostler/core/api/uploads"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/core/upload"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// uploadsFixture is a Lab whose jobs run.
type uploadsFixture struct {
	*servicetest.Lab
	t   *testing.T
	dir string
	api *op.API
}

func newUploads(t *testing.T, shape memdriver.Shape) *uploadsFixture {
	t.Helper()
	f := &uploadsFixture{t: t, dir: t.TempDir()}
	spool, err := upload.OpenSpool(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	f.Lab = servicetest.NewLab(t, shape, func(a *op.API, d api.Deps) {
		f.api = a
		uploads.Register(a, d.Uploads)
		jobs.Register(a, d.Jobs)
		settings.Register(a, d.Settings)
	}, func(c *service.Config) {
		c.Spool, c.Loops = spool, []service.Loop{service.Jobs}
	})
	return f
}

func (f *uploadsFixture) start() {
	f.t.Helper()
	if err := f.Start(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// uploadsInBothShapes runs a test on a fixture of each shape.
func uploadsInBothShapes(t *testing.T, test func(t *testing.T, f *uploadsFixture)) {
	t.Helper()
	servicetest.InBothShapes(t, func(t *testing.T, shape memdriver.Shape) { test(t, newUploads(t, shape)) })
}

// formPart is a part of a form: a field, or a file where file is set, under the name file.
type formPart struct{ name, value, file string }

func formOf(parts ...formPart) (body, kind string) {
	var text bytes.Buffer
	w := multipart.NewWriter(&text)
	for _, p := range parts {
		if p.file == "" {
			_ = w.WriteField(p.name, p.value)
			continue
		}
		// By hand, for names that the standard library would quote.
		out, _ := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + p.name + `"; filename="` + p.file + `"`}})
		_, _ = io.WriteString(out, p.value)
	}
	_ = w.Close()
	return text.String(), w.FormDataContentType()
}

func filePart(name, content string) formPart {
	return formPart{name: "file", value: content, file: name}
}

// upload sends a form that must be answered so.
func (f *uploadsFixture) upload(url string, as *apitest.Caller, status int, code string, parts ...formPart) *apitest.Response {
	f.t.Helper()
	body, kind := formOf(parts...)
	var got *apitest.Response
	f.Run(f.t, apitest.Scenario{Name: "POST " + url, Method: "POST", URL: "/api/v1/storage/" + url, Body: body, As: as, Status: status,
		Error: code, Headers: map[string]string{"Content-Type": kind}, After: func(_ *testing.T, a *apitest.Response) { got = a }})
	return got
}

// left are the files in the spool.
func (f *uploadsFixture) left() (names []string) {
	f.t.Helper()
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".spool") {
			names = append(names, e.Name())
		}
	}
	return names
}

// ended waits for the end of the job of an upload.
func (f *uploadsFixture) ended(a *apitest.Response) job.View {
	f.t.Helper()
	var started upload.UploadResult
	if a == nil || json.Unmarshal(a.Body, &started) != nil {
		f.t.Fatal("there is no answer")
	}
	var j job.View
	waittest.Until(f.t, "the job has ended", func() bool {
		f.Get(f.t, fmt.Sprintf("jobs/%d", started.Job.ID), &j)
		return j.Status.Finished()
	})
	return j
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestUpload(t *testing.T) {
	t.Parallel()
	uploadsInBothShapes(t, func(t *testing.T, f *uploadsFixture) {
		f.start()
		const mine = "id-of-the-clients-choice"
		large := strings.Repeat("large file ", 300_000) // more than one chunk
		for name, parts := range map[string][]formPart{
			"before.iso": {{name: "content", value: "iso"}, {name: "overwrite", value: "false"}, filePart("before.iso", large)},
			"after.iso":  {filePart("after.iso", "x"), {name: "content", value: "iso"}, {name: "node", value: f.Cluster.Nodes()[1]}},
			"alone.iso":  {filePart("alone.iso", "")},
		} {
			a := f.upload("1/local/content?upload_id="+mine+name[:5], apitest.Admin, 202, "", parts...)
			if j := f.ended(a); j.Status != job.Succeeded || j.Kind != "storage.upload" || j.Target.Name != "local" {
				t.Errorf("%s: %+v: %s", name, j, f.Value("SELECT string_agg(text, '; ' ORDER BY job_id, seq) FROM job_events"))
			}
			var u upload.Upload
			f.Get(t, "hosts/1/uploads/"+mine+name[:5], &u)
			if u.Status != "received" || u.Name != name || u.JobID == nil || u.Error != nil || u.SHA256 == "" {
				t.Errorf("%s: %+v", name, u)
			}
		}
		files := map[string]memdriver.File{}
		for _, stored := range f.Cluster.Files() {
			files[stored.Name] = stored
		}
		if len(files) != 3 || files["before.iso"].SHA256 != sumOf(large) || files["before.iso"].Size != int64(len(large)) ||
			files["after.iso"].SHA256 != sumOf("x") || files["alone.iso"].SHA256 != sumOf("") {
			t.Errorf("%+v", files)
		}
		if names := f.left(); len(names) != 0 {
			t.Errorf("%v is left", names)
		}
		if trail := f.AuditLog("storage.upload"); strings.Count(trail, "ok") != 3 {
			t.Errorf("the audit log: %s", trail)
		}
	})
}

func TestUploadIsRefused(t *testing.T) {
	t.Parallel()
	uploadsInBothShapes(t, func(t *testing.T, f *uploadsFixture) {
		good := filePart("a.iso", "abc")
		for name, c := range map[string]struct {
			url    string
			as     *apitest.Caller
			status int
			code   string
			parts  []formPart
		}{
			"nobody":            {"1/local/content", nil, 401, "unauthenticated", []formPart{good}},
			"operator":          {"1/local/content", apitest.Operator, 403, "forbidden", []formPart{good}},
			"another team":      {"1/local/content", apitest.In(2, identity.Admin), 404, "not_found", []formPart{good}},
			"no host":           {"9/local/content", apitest.Admin, 404, "not_found", []formPart{good}},
			"no storage":        {"1/none/content", apitest.Admin, 404, "not_found", []formPart{good}},
			"bad id":            {"1/local/content?upload_id=short", apitest.Admin, 422, "invalid", []formPart{good}},
			"no file":           {"1/local/content", apitest.Admin, 422, "invalid", []formPart{{name: "content", value: "iso"}}},
			"two files":         {"1/local/content", apitest.Admin, 422, "invalid", []formPart{good, good}},
			"other file":        {"1/local/content", apitest.Admin, 422, "invalid", []formPart{{name: "x", value: "y", file: "a.iso"}}},
			"file without name": {"1/local/content", apitest.Admin, 422, "invalid", []formPart{{name: "file", value: "y"}}},
			"unknown field":     {"1/local/content", apitest.Admin, 422, "invalid", []formPart{{name: "overwrit", value: "true"}, good}},
			"twice": {"1/local/content", apitest.Admin, 422, "invalid",
				[]formPart{{name: "content", value: "iso"}, {name: "content", value: "iso"}}},
			"no boolean": {"1/local/content", apitest.Admin, 422, "invalid", []formPart{{name: "overwrite", value: "yes"}, good}},
			"no node":    {"1/local/content", apitest.Admin, 422, "invalid", []formPart{{name: "node", value: "nowhere"}, good}},
			"long field": {"1/local/content", apitest.Admin, 422, "invalid",
				[]formPart{{name: "content", value: strings.Repeat("x", 2000)}, good}},
			"content":       {"1/local/content", apitest.Admin, 422, "invalid", []formPart{{name: "content", value: "snippets"}, good}},
			"content after": {"1/local/content", apitest.Admin, 422, "invalid", []formPart{good, {name: "content", value: "snippets"}}},
			"ending":        {"1/local/content", apitest.Admin, 422, "invalid", []formPart{filePart("a.exe", "abc")}},
			"no name":       {"1/local/content", apitest.Admin, 422, "invalid", []formPart{filePart("..", "abc")}},
			"path":          {"1/local/content", apitest.Admin, 422, "invalid", []formPart{filePart("../../etc/a.iso", "abc")}},
			"long name":     {"1/local/content", apitest.Admin, 422, "invalid", []formPart{filePart(strings.Repeat("a", 256)+".iso", "abc")}},
			"no UTF-8":      {"1/local/content", apitest.Admin, 422, "invalid", []formPart{filePart("a\xff.iso", "abc")}},
			"many parts":    {"1/local/content", apitest.Admin, 422, "invalid", manyParts()},
		} {
			t.Run(name, func(t *testing.T) {
				f.upload(c.url, c.as, c.status, c.code, c.parts...)
				if names := f.left(); len(names) != 0 {
					t.Errorf("%v is left", names)
				}
			})
		}
		if n := f.Value("SELECT count(*) FROM jobs"); n != "0" {
			t.Errorf("there are %s jobs", n)
		}
	})
}

// A file that arrives with another checksum than its sender says is not taken, whether that stands before it or behind it.
func TestChecksumOfUploads(t *testing.T) {
	t.Parallel()
	uploadsInBothShapes(t, func(t *testing.T, f *uploadsFixture) {
		f.start()
		right, wrong := formPart{name: "sha256", value: strings.ToUpper(sumOf("abc"))}, formPart{name: "sha256", value: sumOf("abd")}
		for _, parts := range [][]formPart{{wrong, filePart("a.iso", "abc")}, {filePart("a.iso", "abc"), wrong},
			{{name: "sha256", value: "ba78"}, filePart("a.iso", "abc")}, {{name: "sha256", value: strings.Repeat("x", 64)}, filePart("a.iso",
				"abc")}} {
			f.upload("1/local/content", apitest.Admin, 422, "invalid", parts...)
		}
		if names, n := f.left(), f.Value("SELECT count(*) FROM jobs"); len(names) != 0 || n != "0" {
			t.Errorf("%v is left, and there are %s jobs", names, n)
		}
		for i, parts := range [][]formPart{{right, filePart("0.iso", "abc")}, {filePart("1.iso", "abc"), right}, {{name: "sha256"},
			filePart("2.iso", "abc")}} {
			if j := f.ended(f.upload("1/local/content", apitest.Admin, 202, "", parts...)); j.Status != job.Succeeded {
				t.Errorf("%d: %+v", i, j)
			}
		}
	})
}

func manyParts() (all []formPart) {
	for range 30 {
		all = append(all, formPart{name: "content", value: "iso"})
	}
	return all
}

func TestUploadReplacesOnlyWhenAskedTo(t *testing.T) {
	t.Parallel()
	uploadsInBothShapes(t, func(t *testing.T, f *uploadsFixture) {
		f.start()
		if j := f.ended(f.upload("1/local/content", apitest.Admin, 202, "", filePart("a.iso", "old"))); j.Status != job.Succeeded {
			t.Fatalf("%+v", j)
		}
		content := formPart{name: "content", value: "iso"}
		f.upload("1/local/content", apitest.Admin, 409, "file_exists", content, filePart("a.iso", "new"))
		f.upload("1/local/content", apitest.Admin, 409, "file_exists", filePart("a.iso", "new"))
		f.upload("1/local/content", apitest.Admin, 409, "file_exists", filePart("a.iso", "new"), formPart{name: "overwrite", value: "false"})
		for i, parts := range [][]formPart{
			{{name: "overwrite", value: "true"}, filePart("a.iso", "new 0")}, {filePart("a.iso", "new 1"), {name: "overwrite", value: "true"}},
		} {
			if j := f.ended(f.upload("1/local/content", apitest.Admin, 202, "", parts...)); j.Status != job.Succeeded {
				t.Errorf("%+v", j)
			}
			if files := f.Cluster.Files(); len(files) != 1 || files[0].SHA256 != sumOf(fmt.Sprint("new ", i)) {
				t.Errorf("%+v", files)
			}
		}
	})
}

// A refusal that nothing in the form can change comes before the file is read, and so does one that its fields before it decide.
func TestUploadIsRefusedBeforeTheFile(t *testing.T) {
	t.Parallel()
	f := newUploads(t, memdriver.Tokens)
	f.start()
	f.ended(f.upload("1/local/content", apitest.Admin, 202, "", filePart("there.iso", "old")))
	for name, c := range map[string]struct {
		fields, file, code string
	}{
		"taken":   {"content", "there.iso", "file_exists"},
		"ending":  {"", "a.exe", "invalid"},
		"content": {"content", "a.tar", "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			var parts []formPart
			if c.fields != "" {
				parts = append(parts, formPart{name: c.fields, value: "iso"})
			}
			head, kind := formOf(append(parts, filePart(c.file, "x"))...)
			head = head[:strings.Index(head, "\r\n\r\nx\r\n")+5]
			body := &neverRead{Reader: strings.NewReader(head), t: t}
			r := httptest.NewRequestWithContext(t.Context(), "POST", "http://hostler.example/api/v1/storage/1/local/content", body)
			r.Header.Set("Content-Type", kind)
			r.ContentLength = 64 << 20
			apitest.FakeLogIn(r, apitest.Admin)
			w := httptest.NewRecorder()
			f.Resource.API.Handler.ServeHTTP(w, r)
			if !strings.Contains(w.Body.String(), `"error":"`+c.code+`"`) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}

// neverRead is a body whose rest is asked for by nobody; but for what a buffer takes at once.
type neverRead struct {
	io.Reader
	t    *testing.T
	more int
}

func (n *neverRead) Read(p []byte) (int, error) {
	got, err := n.Reader.Read(p)
	if err == nil {
		return got, nil
	}
	if n.more += len(p); n.more > 3<<20 {
		n.t.Error("the file is read")
		return 0, io.ErrUnexpectedEOF
	}
	clear(p)
	return len(p), nil
}

func (n *neverRead) Close() error { return nil }

func TestLimitsOfUploads(t *testing.T) {
	t.Parallel()
	f := newUploads(t, memdriver.Tokens)
	set := func(body string) { f.Expect(t, "PATCH", "settings", body, apitest.Owner, 200, "") }
	set(`{"upload.limit_mib":1}`)
	f.upload("1/local/content", apitest.Admin, 413, "too_large", filePart("a.iso", strings.Repeat("x", 1<<20+1)))
	f.upload("1/local/content", apitest.Admin, 413, "too_large", filePart("a.iso", strings.Repeat("x", 2<<20)))
	f.upload("1/local/content", apitest.Admin, 202, "", filePart("a.iso", strings.Repeat("x", 1<<20)))
	set(`{"upload.keep_free_mib":16777216}`)
	f.upload("1/local/content", apitest.Admin, 507, "insufficient_storage", filePart("b.iso", "x"))
}

// An upload of which the sender leaves has left nothing, and is told.
func TestUploadWhoseSenderLeaves(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a sender that leaves: make check runs it")
	}
	t.Parallel()
	f := newUploads(t, memdriver.Tokens)
	whole, kind := formOf(filePart("a.iso", strings.Repeat("x", 3<<20)))
	server := httptest.NewServer(f.Resource.API.Handler)
	t.Cleanup(server.Close)
	const id = "upload-whose-sender-leaves"
	ctx, leave := context.WithCancel(t.Context())
	body := io.MultiReader(strings.NewReader(whole[:2<<20]), senderLeaves(func() {
		waittest.Until(t, "some has arrived", func() bool { return len(f.left()) == 1 })
		leave()
	}))
	r, err := http.NewRequestWithContext(ctx, "POST", server.URL+"/api/v1/storage/1/local/content?upload_id="+id, body)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = int64(len(whole))
	r.Header.Set("Content-Type", kind)
	apitest.FakeLogIn(r, apitest.Admin)
	if answer, err := server.Client().Do(r); err == nil {
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		t.Fatalf("it was answered with %d %s", answer.StatusCode, text)
	}
	waittest.Until(t, "the upload has failed", func() bool {
		return f.Value("SELECT count(*) FROM uploads WHERE status = 'failed'") == "1"
	})
	var u upload.Upload
	f.Get(t, "hosts/1/uploads/"+id, &u)
	if names := f.left(); len(names) != 0 || u.Error == nil || *u.Error != "canceled" {
		t.Errorf("%v is left, and %+v", names, u)
	}
}

// While a file arrives the upload tells how much of it has, and while it is sent on its job tells how much has gone.
func TestHowFarAnUploadHasCome(t *testing.T) {
	if testing.Short() {
		t.Skip("sends slowly: make check runs it")
	}
	t.Parallel()
	f := newUploads(t, memdriver.Tokens)
	const id, size = "upload-that-is-looked-at", 64 << 20
	var seen upload.Upload
	left := int64(size)
	body := readerFunc(func(p []byte) (int, error) {
		// The second half comes slowly until somebody has seen how far it is.
		if left <= size/2 && seen.Received == 0 {
			f.Get(t, "hosts/1/uploads/"+id, &seen)
			p = p[:min(len(p), 1<<10)]
		}
		if left == 0 {
			return 0, io.EOF
		}
		n := min(int64(len(p)), left)
		left -= n
		return int(n), nil
	})
	f.Cluster.SetFault("upload", memdriver.Fault{Delay: 2 * time.Second, Late: true})
	started, err := f.Uploads.Receive(t.Context(), upload.Request{ID: id, HostID: 1, TeamID: 1, Storage: "local", Size: size},
		oncePart(upload.Part{Field: "file", File: true, FileName: "a.iso", Body: body}))
	if err != nil {
		t.Fatal(err)
	}
	if seen.Received <= 0 || seen.Received >= size || seen.Status != "receiving" || seen.Name != "a.iso" ||
		seen.Size == nil || *seen.Size != size {
		t.Errorf("while it arrived it was %+v", seen)
	}
	f.start()
	var j job.View
	waittest.Until(t, "the job has told how much has gone", func() bool {
		f.Get(t, fmt.Sprintf("jobs/%d", started.Job.ID), &j)
		return j.Progress != nil && *j.Progress > 0 && *j.Progress <= 1
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// oncePart gives one part of a form.
func oncePart(part upload.Part) func() (upload.Part, error) {
	given := false
	return func() (upload.Part, error) {
		if given {
			return upload.Part{}, io.EOF
		}
		given = true
		return part, nil
	}
}

type senderLeaves func()

func (l senderLeaves) Read([]byte) (int, error) {
	l()
	return 0, io.ErrUnexpectedEOF
}

// A sender that stops, or sends next to nothing, is left: the operation says after what, and the upload is told to have failed of it.
func TestUploadThatIsTooSlow(t *testing.T) {
	if testing.Short() {
		t.Skip("sends slowly: make check runs it")
	}
	t.Parallel()
	f := newUploads(t, memdriver.Tokens)
	operations := f.api.Operations()
	i := slices.IndexFunc(operations, func(o *op.Operation) bool { return o.Spec.ID == "upload_content" })
	if spec := operations[i].Spec; spec.Idle != 30*time.Second || spec.Rate != 1<<10 || spec.Timeout != op.Unlimited {
		t.Errorf("it ends after %s without a byte, below %d bytes a second, and after %s", spec.Idle, spec.Rate, spec.Timeout)
	}
	const id = "upload-that-is-much-too-slow"
	slow := problem.New(problem.CodeRequestTimeout, "the body arrives too slowly")
	sent := false
	_, err := f.Uploads.Receive(t.Context(), upload.Request{ID: id, HostID: 1, TeamID: 1, Storage: "local", Size: 5 << 20},
		func() (upload.Part, error) {
			if sent {
				t.Error("another part is asked for")
			}
			sent = true
			return upload.Part{Field: "file", File: true, FileName: "a.iso",
				Body: io.MultiReader(strings.NewReader(strings.Repeat("x", 3<<20)), bodyEnds{slow})}, nil
		})
	if problem.CodeOf(err) != problem.CodeRequestTimeout {
		t.Errorf("%v", err)
	}
	var u upload.Upload
	f.Get(t, "hosts/1/uploads/"+id, &u)
	if names := f.left(); len(names) != 0 || u.Status != "failed" || u.Error == nil || *u.Error != "request_timeout" || u.JobID != nil {
		t.Errorf("%v is left, and %+v", names, u)
	}
}

// bodyEnds is a body that ends so.
type bodyEnds struct{ err error }

func (e bodyEnds) Read([]byte) (int, error) { return 0, e.err }

// How the hypervisor fails is how the job ends, and no file is left.
func TestHowTheJobOfAnUploadEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault  memdriver.Fault
		status job.Status
		says   string
		stored int
	}{
		"refused":     {memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "not today")}, job.Failed, "not today", 0},
		"denied":      {memdriver.Fault{Err: plugin.Errorf(plugin.Denied, "no")}, job.Failed, "no", 0},
		"lost before": {memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "cut")}, job.Failed, "not sent completely", 0},
		"lost behind it": {memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "cut"), Late: true}, job.Unknown,
			"of the same size, 3 bytes", 1},
		"secret in the way": {memdriver.Fault{Leak: true}, job.Failed, "not sent completely", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newUploads(t, memdriver.Tokens)
			f.Cluster.SetFault("upload", c.fault)
			f.start()
			j := f.ended(f.upload("1/local/content", apitest.Admin, 202, "", filePart("a.iso", "abc")))
			if j.Status != c.status || !strings.Contains(j.Error, c.says) || strings.Contains(j.Error, "secret-of") {
				t.Errorf("%s: %s", j.Status, j.Error)
			}
			waittest.Until(t, "the file is gone", func() bool { return len(f.left()) == 0 })
			if files := f.Cluster.Files(); len(files) != c.stored {
				t.Errorf("%+v", files)
			}
		})
	}
}

// A job whose file is in the folder of an instance that is gone for good says so.
func TestUploadWhoseInstanceIsGone(t *testing.T) {
	if testing.Short() {
		t.Skip("kills an instance: make check runs it")
	}
	t.Parallel()
	f := newUploads(t, memdriver.Tokens)
	a := f.upload("1/local/content", apitest.Admin, 202, "", filePart("a.iso", "abc"))
	f.Exec("UPDATE jobs SET place = 'gone', created_at = now() - interval '1 hour'")
	f.Exec("UPDATE river_job SET queue = 'at_gone', scheduled_at = now() - interval '1 minute'")
	for _, name := range f.left() {
		if err := os.Remove(f.dir + "/" + name); err != nil {
			t.Fatal(err)
		}
	}
	f.start()
	if j := f.ended(a); j.Status != job.Failed || !strings.Contains(j.Error, "the file no longer exists") {
		t.Errorf("%+v", j)
	}
}

// A job that is canceled before it begins leaves its file to the sweep.
func TestUploadThatIsCanceledLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("cancels a job in the middle: make check runs it")
	}
	t.Parallel()
	f := newUploads(t, memdriver.Tokens)
	f.upload("1/local/content", apitest.Admin, 202, "", filePart("a.iso", "abc"))
	if err := f.Uploads.Sweep(t.Context()); err != nil || len(f.left()) != 1 {
		t.Fatalf("%v, left is %v", err, f.left())
	}
	f.Expect(t, "POST", "jobs/1/cancel", "", apitest.Operator, 202, "")
	if err := f.Uploads.Sweep(t.Context()); err != nil || len(f.left()) != 0 {
		t.Errorf("%v, left is %v", err, f.left())
	}
}

// A driver without the ability is 501 before anything is read.
func TestUploadWithoutTheAbility(t *testing.T) {
	t.Parallel()
	f := newUploads(t, memdriver.Tokens)
	f.WrapChanges(func(h *memdriver.Host) hypervisor.Host { return struct{ hypervisor.Host }{h} })
	f.upload("1/local/content", apitest.Admin, 501, "unsupported", filePart("a.iso", "abc"))
	f.Exec("DELETE FROM host_credentials WHERE capability = '" + string(endpoint.Lifecycle) + "'")
	f.upload("1/local/content", apitest.Admin, 409, "capability_missing", filePart("a.iso", "abc"))
}

// Who may not see the host does not see its uploads, and an id is taken once.
func TestUploadIDs(t *testing.T) {
	t.Parallel()
	f := newUploads(t, memdriver.Tokens)
	const id = "0b7c3a52-4a3f-4a57-9d0b-000000000001"
	f.upload("1/local/content?upload_id="+id, apitest.Admin, 202, "", filePart("a.iso", "abc"))
	f.upload("1/local/content?upload_id="+id, apitest.Admin, 409, "conflict", filePart("b.iso", "abc"))
	f.Expect(t, "GET", "hosts/1/uploads/"+id, "", apitest.Viewer, 200, "", `"received_bytes":3`)
	f.Expect(t, "GET", "hosts/1/uploads/"+id, "", apitest.In(2, identity.Owner), 404, "not_found")
	f.Expect(t, "GET", "hosts/1/uploads/"+id+"x", "", apitest.Viewer, 404, "not_found")
}
