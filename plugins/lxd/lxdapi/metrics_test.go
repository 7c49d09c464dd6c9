package lxdapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/plugin"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	text := `# HELP lxd_cpu_seconds_total The total number of CPU time used in seconds.
# TYPE lxd_cpu_seconds_total counter
lxd_cpu_seconds_total{cpu="0",mode="system",name="web1",project="default",type="container"} 0.5
lxd_cpu_seconds_total{cpu="1",mode="user",name="web1",project="default",type="container"} 0.25
lxd_cpu_seconds_total{cpu="1",mode="idle",name="web1",project="default",type="container"} 1000
incus_cpu_seconds_total{cpu="0",mode="system",name="web1",project="a \"b\" \\ \n,}c",type="container"} 2 1700000000
lxd_memory_MemTotal_bytes{name="web1",project="default",type="container"} 6.7108864e+07
lxd_memory_MemAvailable_bytes{name="web1",project="default",type="container"} NaN
lxd_network_receive_bytes_total{device="lo",name="web1",project="default",type="container"} 7
lxd_network_receive_bytes_total{device="eth0",name="web1",project="default",type="container"} 3
lxd_network_receive_bytes_total{device="eth1",name="web1",project="default",type="container"} 4
lxd_network_transmit_bytes_total{device="eth0",name="web1",project="default",type="container"} 0
lxd_filesystem_size_bytes{device="",fstype="ext4",mountpoint="/",name="web1",project="default"} 100
lxd_filesystem_size_bytes{device="",fstype="ext4",mountpoint="/data",name="web1",project="default"} 1000
lxd_filesystem_avail_bytes{device="",fstype="ext4",mountpoint="/",name="web1",project="default"} 1e999
lxd_procs_total{name="web1",project="default",type="container"} 2
lxd_uptime_seconds 17
lxd_warnings_total{severity="low"} 3
go_goroutines{name="web1",project="default"} 3
`
	text = strings.ReplaceAll(text, `a \"b\" \\ \n,}c`, `a \"b\",}c`)
	all, err := serve(t, say(text)).Metrics(t.Context(), "")
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	show := func(f *float64) string {
		if f == nil {
			return "-"
		}
		return fmt.Sprint(*f)
	}
	for i, want := range []string{
		"default/web1 0.75 6.7108864e+07 - - - 7 0 100 - 2",
		`a "b",}c/web1 2 - - - - - - - - -`,
	} {
		m := all[i]
		got := fmt.Sprint(m.Project+"/"+m.Name, " ", show(m.CPUSeconds), " ", show(m.MemoryTotal), " ", show(m.MemoryAvailable), " ",
			show(m.DiskRead), " ", show(m.DiskWritten), " ", show(m.NetworkReceived), " ", show(m.NetworkSent), " ",
			show(m.RootSize), " ", show(m.RootAvailable), " ", show(m.Processes))
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestMetricsThatAreNone(t *testing.T) {
	t.Parallel()
	one := `lxd_procs_total{name="web1",project="default"} `
	for name, handler := range map[string]http.HandlerFunc{
		"no value":         say(one),
		"a word":           say(one + "many"),
		"no end of labels": say(`lxd_procs_total{name="web1",project="default" 2`),
		"no end of a text": say(`lxd_procs_total{name="web1`),
		"no project":       say(`lxd_procs_total{name="web1"} 2`),
		"name that climbs": say(`lxd_procs_total{name="..",project="default"} 2`),
		"long line":        say(`lxd_procs_total{name="` + strings.Repeat("a", 17<<10) + `"} 2`),
		"many labels":      say(`lxd_procs_total{` + labels(40) + `} 2`),
		"endless line":     endless(`# `, "a"),
		"endless instances": func(w http.ResponseWriter, r *http.Request) {
			for i := 0; r.Context().Err() == nil; i++ {
				if _, err := fmt.Fprintf(w, "lxd_procs_total{name=\"i%d\",project=\"default\"} 2\n", i); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := serve(t, handler).Metrics(t.Context(), "")
			wantKind(t, err, plugin.Protocol)
		})
	}
	_, err := serveWithin(t, impatience, endlessComments).Metrics(t.Context(), "")
	if kind := plugin.KindOf(err); kind != plugin.Timeout && kind != plugin.Protocol { // whichever limit comes first
		t.Error(err)
	}
}

func endlessComments(w http.ResponseWriter, r *http.Request) { endless("", "# a\n")(w, r) }

func labels(count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, `l%d="v",`, i)
	}
	return b.String()
}
