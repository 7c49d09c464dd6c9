package pvesim_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
	"github.com/hostler/hostler/plugins/pve/pvetest"
)

const mib = int64(1) << 20

// recordedServer is a simulator in the state of the recorded server: one node pve1, its guests, users and tokens.
type recordedServer struct {
	t       testing.TB
	cluster *pvesim.Cluster
	secrets map[string]string // token id to secret
	upids   map[string]string // recorded to simulated
	ticket  string
	csrf    string
	digest  string // stands for a recorded one when it is not empty
}

func newRecordedServer(t testing.TB) *recordedServer {
	c := pvesimtest.Start(t, pvesim.Options{Bare: true, TaskDuration: time.Hour})
	w := &recordedServer{t: t, cluster: c, secrets: map[string]string{}, upids: map[string]string{}}
	w.token("root@pam!test", false)
	c.AddUser("drv@pve", "secret1234")
	w.token("drv@pve!t1", true)
	w.token("drv@pve!t2", false)
	w.token("drv@pve!old", false)
	c.AddStorage(pvesim.StorageSpec{ID: "local"})
	c.AddStorage(pvesim.StorageSpec{ID: "data1"})
	c.AddStorage(pvesim.StorageSpec{ID: "btr", Plugin: "btrfs", Content: "images,rootdir"})
	w.guest(pvesim.GuestSpec{VMID: 100, Name: "vm100", Status: pvesim.StatusRunning, IgnoreShutdown: true})
	w.guest(pvesim.GuestSpec{VMID: 101, Type: pvesim.LXC, Name: "ct101", Cores: 2, Status: pvesim.StatusRunning})
	return w
}

func (w *recordedServer) token(id string, privsep bool) {
	w.secrets[id] = w.cluster.AddToken(id, privsep).Secret
}

func (w *recordedServer) guest(s pvesim.GuestSpec) {
	w.t.Helper()
	if s.Memory == 0 {
		s.Memory = 256 * mib
	}
	if _, err := w.cluster.AddGuest(s); err != nil {
		w.t.Fatal(err)
	}
}

func (w *recordedServer) change(vmid int, f func(*pvesim.GuestSpec)) {
	w.t.Helper()
	if err := w.cluster.ChangeGuest(vmid, f); err != nil {
		w.t.Fatal(err)
	}
}

func (w *recordedServer) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// do sends a request as root and wants a 200; it returns the data.
func (w *recordedServer) do(method, path, form string) any {
	w.t.Helper()
	r := rawRequest{method: method, path: "/api2/json" + path, header: map[string]string{
		"Authorization": "PVEAPIToken=root@pam!test=" + w.secrets["root@pam!test"],
	}}
	if form != "" {
		r.body, r.header["Content-Type"] = form, "application/x-www-form-urlencoded"
	}
	a := send(w.t, w.cluster.URL(""), r)
	if a.status != 200 {
		w.t.Fatalf("%s %s: %d %s", method, path, a.status, a.reason)
	}
	var body struct{ Data any }
	w.must(json.Unmarshal(a.body, &body))
	return body.Data
}

// finished puts a finished task into the list; recorded is its recorded UPID.
func (w *recordedServer) finished(recorded, user, kind, id, exit string) {
	w.task(recorded, user, kind, id, 0, exit)
}

func (w *recordedServer) task(recorded, user, kind, id string, d time.Duration, exit string) {
	w.t.Helper()
	upid, err := w.cluster.StartTask("pve1", user, kind, id, d, exit)
	w.must(err)
	if recorded != "" {
		w.upids[recorded] = upid
	}
}

// preparation changes the server for the cases whose names end in one of the words; no words mean every case.
type preparation struct {
	cases string
	f     func()
}

// request turns a recorded request into one for this server: its secrets, tickets, UPIDs and digests.
func (w *recordedServer) request(e pvetest.Exchange) rawRequest {
	w.t.Helper()
	r := rawRequest{method: e.Method, path: e.Request.URL, header: map[string]string{}}
	for k, v := range e.Request.Headers {
		if id, isToken := strings.CutPrefix(v, "PVEAPIToken="); isToken && strings.HasSuffix(v, "=<secret>") {
			id = strings.TrimSuffix(id, "=<secret>")
			v = "PVEAPIToken=" + id + "=" + w.secrets[id]
			if wrong, custom := strings.CutPrefix(e.Request.Auth, "custom: "); custom {
				v = "PVEAPIToken=" + wrong
			}
		}
		if k == "Cookie" && w.ticket != "" {
			v = "PVEAuthCookie=" + url.QueryEscape(w.ticket)
		}
		if k == "CSRFPreventionToken" {
			v = w.csrf
		}
		r.header[k] = v
	}
	var params map[string]any
	_ = json.Unmarshal(e.Request.Params, &params) // a raw body is described as text
	form := url.Values{}
	for k, v := range params {
		if text, isText := v.(string); isText {
			form.Set(k, text)
			continue
		}
		raw, err := json.Marshal(v)
		w.must(err)
		form.Set(k, string(raw))
	}
	if w.digest != "" {
		form.Set("digest", w.digest)
	}
	if e.Request.UPID != "" {
		w.upidRequest(e, &r, form)
		return r
	}
	switch {
	case strings.HasPrefix(e.Request.Headers["Content-Type"], "multipart/"):
		r.body = recordedUpload(e)
	case e.Request.Encoding == "json":
		r.body = string(e.Request.Params)
	case e.Request.Encoding == "form" && len(form) > 0:
		r.body = form.Encode()
	case strings.HasSuffix(e.Case, "bad_json"):
		r.body = "{bad json"
	case strings.HasSuffix(e.Case, "bad_content_type"):
		r.body = "memory=128"
	}
	return r
}

func (w *recordedServer) upidRequest(e pvetest.Exchange, r *rawRequest, form url.Values) {
	id := map[string]string{"root": "root@pam!test", "drv_full": "drv@pve!t2", "drv_privsep": "drv@pve!t1"}[e.Request.Auth]
	r.header["Authorization"] = "PVEAPIToken=" + id + "=" + w.secrets[id]
	upid := e.Request.UPID
	if own, known := w.upids[upid]; known {
		upid = own
	}
	r.path = "/api2/json" + strings.ReplaceAll(e.Path, "{upid}", url.PathEscape(upid))
	if len(form) > 0 {
		r.path += "?" + form.Encode()
	}
}

// recordedUpload is the form of a recorded upload, of which only the names and values of its fields are known.
func recordedUpload(e pvetest.Exchange) string {
	const edge = "------b0undary\r\n"
	_, list, _ := strings.Cut(e.Note, ": ")
	var form strings.Builder
	for field := range strings.SplitSeq(list, ", ") {
		name, value, _ := strings.Cut(field, "=")
		form.WriteString(edge + `Content-Disposition: form-data; name="` + name + `"`)
		if name == "filename" {
			form.WriteString(`; filename="` + value + "\"\r\n\r\n" + strings.Repeat("x", 1000))
		} else {
			form.WriteString("\r\n\r\n" + value)
		}
		form.WriteString("\r\n")
	}
	return form.String() + strings.TrimSuffix(edge, "\r\n") + "--\r\n"
}
