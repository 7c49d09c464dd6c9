package lxdtest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Many answers what an inventory asks of an LXD with so many containers that run, in the form and size of recorded answers. The
// figures are others each time.
func Many(guests int) http.Handler {
	return &many{guests: guests, instances: envelope("[" + strings.Join(manyInstances(guests), ",") + "]"), began: time.Now()}
}

// many is a fake server with many instances, for measurements. It answers the
// reads of an inventory from prepared text, and nothing else: unlike a real LXD
// it has no operations, no events and no rights.
type many struct {
	guests    int
	instances []byte
	began     time.Time
	asked     atomic.Int64
}

// What the server is like, and its one pool.
const (
	manyServer = `{"config":{},"api_extensions":["resources","metrics","projects"],"api_status":"stable","api_version":"1.0","auth":"trusted",
		"public":false,"auth_methods":["tls"],"environment":{"addresses":[],"architectures":["x86_64"],"driver":"lxc","driver_version":"5.0.2",
		"firewall":"nftables","kernel":"Linux","kernel_architecture":"x86_64","kernel_version":"6.1.0","os_name":"Debian GNU/Linux",
		"os_version":"12","project":"default","server":"lxd","server_clustered":false,"server_name":"lxd1","server_version":"5.0.2",
		"storage":"dir","storage_supported_drivers":[{"Name":"dir","Version":"1","Remote":false}]}}`
	manyCertificate = `{"fingerprint":"","certificate":"","name":"hostler","type":"client","restricted":false,"projects":[]}`
	manyPools       = `[{"name":"local","driver":"dir","description":"","status":"Created","locations":["none"],"config":{},"used_by":[]}]`
	manyPool        = `{"space":{"used":196161000000,"total":270553174016},"inodes":{"used":0,"total":0}}`
	manyProjects    = `[{"name":"default","description":"","config":{"features.images":"true","features.profiles":"true"},"used_by":[]}]`
	manyResources   = `{"cpu":{"architecture":"x86_64","sockets":[{"name":"Example CPU","socket":0,"cores":[{"core":0,"threads":[{"id":0,
		"online":true}]},{"core":1,"threads":[{"id":1,"online":true}]}]}],"total":2},"memory":{"used":4159688704,"total":25769803776}}`
)

func (m *many) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text := map[string]string{"/1.0": manyServer, "/1.0/storage-pools": manyPools, "/1.0/storage-pools/local/resources": manyPool,
		"/1.0/projects": manyProjects, "/1.0/resources": manyResources}[r.URL.Path]
	switch {
	case r.URL.Path == "/1.0/metrics":
		_, _ = w.Write(m.metrics())
		return
	case strings.HasPrefix(r.URL.Path, "/1.0/certificates/"):
		text = manyCertificate
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/1.0/instances":
		_, _ = w.Write(m.instances)
	case text != "":
		_, _ = w.Write(envelope(text))
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"type":"error","error_code":404,"error":"not found","metadata":null}`)
	}
}

// envelope wraps metadata in a successful response.
func envelope(metadata string) []byte {
	return fmt.Appendf(nil, `{"type":"sync","status":"Success","status_code":200,"operation":"","error_code":0,"error":"","metadata":%s}`,
		metadata)
}

// manyInstances are rows of the list.
func manyInstances(count int) []string {
	config := func(i int) string {
		idmap := `[{\"Isuid\":true,\"Isgid\":false,\"Hostid\":100000,\"Nsid\":0,\"Maprange\":10000001},` +
			`{\"Isuid\":false,\"Isgid\":true,\"Hostid\":100000,\"Nsid\":0,\"Maprange\":10000001}]`
		return fmt.Sprintf(`{"image.description":"small image","image.os":"debian","image.release":"bookworm","limits.cpu":"2",
			"limits.memory":"200MiB",
			"volatile.base_image":"a27a522c7e96974d8b76a648aa62ada591f20272ee3a8d33600b6a86d6b4dd7e","volatile.eth0.hwaddr":"00:16:3e:86:58:28",
			"volatile.idmap.base":"0","volatile.idmap.current":"%s","volatile.idmap.next":"%s","volatile.last_state.power":"RUNNING",
			"volatile.uuid":"0cd8d3bc-253a-42ee-a954-%012d"}`, idmap, idmap, i)
	}
	rows := make([]string, count)
	for i := range rows {
		devices := `{"eth0":{"name":"eth0","network":"lxdbr0","type":"nic"},"root":{"path":"/","pool":"local","type":"disk"}}`
		rows[i] = fmt.Sprintf(`{"architecture":"x86_64","config":%s,"devices":{},"ephemeral":false,"profiles":["default"],"stateful":false,
			"description":"","created_at":"2026-11-22T00:20:26.618260392Z","expanded_config":%s,"expanded_devices":%s,"name":"guest-%d",
			"status":"Running","status_code":103,"last_used_at":"2026-11-22T00:21:03.492543613Z","location":"none","type":"container",
			"project":"default"}`, config(i), config(i), devices, i)
	}
	return rows
}

// The figures that the server gives of each container: those of memory have no label of their own, those of the network one for each
// interface.
var (
	memoryFigures = strings.Fields(`Active_anon Active_file Active Cached Dirty Inactive_anon Inactive_file Inactive Mapped MemAvailable
		MemFree MemTotal RSS Shmem Swap Unevictable Writeback`)
	networkFigures = strings.Fields(`receive_bytes receive_drop receive_errs receive_packets transmit_bytes transmit_drop transmit_errs
		transmit_packets`)
)

// metrics is the text of all figures: 42 for each container. Counters are higher each time.
func (m *many) metrics() []byte {
	var out bytes.Buffer
	step, seconds := m.asked.Add(1), time.Since(m.began).Seconds()
	family := func(name, kind string, labels []string, value func(i int) float64) {
		fmt.Fprintf(&out, "# HELP %s What it is.\n# TYPE %s %s\n", name, name, kind)
		for i := range m.guests {
			for _, label := range labels {
				fmt.Fprintf(&out, "%s{%sname=\"guest-%d\",project=\"default\",type=\"container\"} %v\n", name, label, i, value(i))
			}
		}
	}
	family("lxd_cpu_seconds_total", "counter", []string{`cpu="0",mode="system",`, `cpu="0",mode="user",`, `cpu="1",mode="system",`,
		`cpu="1",mode="user",`}, func(i int) float64 { return seconds * float64(i%100) / 400 })
	for _, name := range []string{"avail", "free", "size"} {
		family("lxd_filesystem_"+name+"_bytes", "gauge", []string{`device="",fstype="ext4",mountpoint="/",`},
			func(int) float64 { return 7.43926784e+10 })
	}
	for _, name := range memoryFigures {
		family("lxd_memory_"+name+"_bytes", "gauge", []string{""}, func(i int) float64 {
			if name == "MemTotal" {
				return 200 << 20
			}
			return float64(100<<20 + 4096*(i%1000) + 4096*int(step%100))
		})
	}
	for _, name := range networkFigures {
		family("lxd_network_"+name+"_total", "counter", []string{`device="lo",`, `device="eth0",`},
			func(i int) float64 { return float64(step * int64(i)) })
	}
	family("lxd_procs_total", "gauge", []string{""}, func(int) float64 { return 2 })
	return out.Bytes()
}
