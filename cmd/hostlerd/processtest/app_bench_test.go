package processtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/plugins/scripts/scriptstest"
)

// BenchmarkApps is the catalog of 1,000 entries and an install from it, on real processes: a sync of all of it beside reading the same
// archive, a bundle that is made and one that is kept, the list, and what an install takes besides its script.
func BenchmarkApps(b *testing.B) {
	if os.Geteuid() != 0 {
		b.Skip("who logs in is root, and the SSH server of a test lets in only who runs the test")
	}
	w := newAppWay(b)
	files := scriptstest.Many(1000)
	files["misc/build.func"] = appEngine
	files["misc/install.func"] = "said() { echo \"inside: $1\"; }\n"
	files.App("wiki", "Wiki", "", "date +%s%N >/root/began; sleep 2; date +%s%N >/root/ended")
	w.origin.Push(files)
	w.catalog()
	d := dbtest.Open(b, w.service.DB)
	pid := 0
	for _, p := range pluginList(b, w.owner) {
		if p.Name == "scripts" && p.PID != nil {
			pid = *p.PID
		}
	}
	b.Run("sync", func(b *testing.B) {
		archive := files.Archive(b)
		var syncing, reading time.Duration
		requests := 0
		for b.Loop() {
			dbtest.Exec(b, d, "DELETE FROM catalog_entries")
			dbtest.Exec(b, d, "UPDATE catalog_sources SET cursor = '', digest = '', pin = ''")
			w.origin.Requests()
			began := time.Now()
			w.refresh()
			syncing += time.Since(began)
			requests += len(w.origin.Requests())
			began = time.Now()
			unpack(b, archive)
			reading += time.Since(began)
		}
		b.ReportMetric(float64(syncing.Milliseconds())/float64(b.N), "ms/sync")
		b.ReportMetric(float64(syncing)/float64(reading), "x-read")
		b.ReportMetric(float64(requests)/float64(b.N), "requests/sync")
		b.ReportMetric(float64(resident(b, pid)>>20), "MiB-plugin")
		b.ReportMetric(float64(resident(b, w.service.cmd.Process.Pid)>>20), "MiB-service")
	})
	b.Run("bundle", func(b *testing.B) {
		var made, kept time.Duration
		for b.Loop() {
			dbtest.Exec(b, d, "DELETE FROM bundle_manifests")
			dbtest.Exec(b, d, "DELETE FROM bundles")
			path := fmt.Sprintf("/api/v1/catalog/wiki/plan?host=%d", w.host)
			began := time.Now()
			w.owner.must(b, http.StatusOK, http.MethodGet, path, nil, nil)
			made += time.Since(began)
			began = time.Now()
			w.owner.must(b, http.StatusOK, http.MethodGet, path, nil, nil)
			kept += time.Since(began)
		}
		b.ReportMetric(float64(made.Milliseconds())/float64(b.N), "ms/made")
		b.ReportMetric(float64(made)/float64(kept), "x-kept")
	})
	b.Run("list", func(b *testing.B) {
		var times []time.Duration
		size := 0
		for b.Loop() {
			began := time.Now()
			size = len(w.owner.must(b, http.StatusOK, http.MethodGet, "/api/v1/catalog?entry_type=ct", nil, nil).Body)
			times = append(times, time.Since(began))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms/list")
		b.ReportMetric(float64(size)/1000, "kB")
		req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, w.service.Base+"/api/v1/catalog?entry_type=ct", nil)
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", "gzip") // as browsers do; nothing unpacks it then
		resp, err := w.owner.http.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		sent, err := io.Copy(io.Discard, resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			b.Fatal(resp.Status, err)
		}
		b.ReportMetric(float64(sent)/1000, "kB-sent")
	})
	b.Run("install", w.benchInstall)
}

// unpack reads all of an archive.
func unpack(b *testing.B, archive []byte) {
	b.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		b.Fatal(err)
	}
	for r := tar.NewReader(zipped); ; {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			b.Fatal(err)
		}
	}
}

// benchInstall installs once: what it takes besides the script does not depend on how often.
func (w *appWay) benchInstall(b *testing.B) {
	var plan struct{ Sum string }
	w.owner.must(b, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/catalog/wiki/plan?host=%d", w.host), nil, &plan)
	var spent, script time.Duration
	requests, logins := 0, int64(0)
	for b.Loop() {
		before, in := w.machine.cluster.stats(b).Total, w.machine.SSH.Logins()
		began := time.Now()
		id := started(b, w.owner, "/api/v1/catalog/wiki/install", map[string]any{"host_id": w.host, "name": "my-wiki", "consent": true,
			"sum": plan.Sum}).ID
		w.done(id, "succeeded")
		spent += time.Since(began)
		requests += w.machine.cluster.stats(b).Total - before
		logins += w.machine.SSH.Logins() - in
		var from, to int64
		if _, err := fmt.Sscan(strings.ReplaceAll(w.machine.Run("cd /var/roots/120/root && cat began ended"), "\n", " "), &from,
			&to); err != nil {
			b.Fatal(err)
		}
		script += time.Duration(to - from)
		w.machine.cluster.control(b, http.MethodPost, "/guest", map[string]any{"op": "delete", "vmid": 120}, nil)
		w.machine.Run("kill -KILL $(cat /run/lxc/120); rm -rf /var/roots/120/root /etc/pve/lxc/120.conf; ip link del ve120 2>/dev/null || true")
		var apps []struct{ ID int64 }
		w.owner.must(b, http.StatusOK, http.MethodGet, "/api/v1/apps", nil, &apps)
		w.owner.must(b, http.StatusOK, http.MethodDelete, fmt.Sprintf("/api/v1/apps/%d", apps[0].ID),
			map[string]any{"confirm": "my-wiki", "keep_ct": true}, nil)
		w.owner.must(b, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", w.host), nil, nil)
	}
	n := float64(b.N)
	b.ReportMetric((spent-script).Seconds()/n, "s-beside-script")
	b.ReportMetric(float64(requests)/n, "requests")
	b.ReportMetric(float64(logins)/n, "logins")
}
