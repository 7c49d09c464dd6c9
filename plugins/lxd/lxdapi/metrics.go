package lxdapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/hostler/hostler/sdk/plugin"
)

const (
	maxMetrics = 256 << 20 // bytes of all figures: about 35,000 instances that run
	maxLine    = 16 << 10  // bytes of one figure
	maxLabels  = 32        // labels of one figure
)

// InstanceMetrics are the usage values of one running instance. A value that
// the server does not report is nil. Counters start at zero when the instance
// starts.
type InstanceMetrics struct {
	InstanceRef
	// CPUSeconds is a counter over all cores, without idle time.
	CPUSeconds *float64
	// Memory is in bytes. What is neither free nor a cache that can be given up is MemoryTotal less MemoryAvailable.
	MemoryTotal, MemoryAvailable *float64
	// DiskRead and DiskWritten are counters of bytes over all disks.
	DiskRead, DiskWritten *float64
	// NetworkReceived and NetworkSent are counters of bytes over all interfaces but lo.
	NetworkReceived, NetworkSent *float64
	// RootSize and RootAvailable are of the file system at /, in bytes. On a pool of the driver dir that is the server's own.
	RootSize, RootAvailable *float64
	Processes               *float64
}

// Metrics reads the usage values of running instances, of one project or with
// an empty name of all. The server reads instances one after another and caches
// the response for 8 s. A restricted certificate must name a project.
func (c *Client) Metrics(ctx context.Context, project string) ([]InstanceMetrics, error) {
	query, err := Scope{Project: project}.query()
	if err != nil {
		return nil, err
	}
	a, err := c.send(ctx, request{method: http.MethodGet, path: rootPath + "/metrics", query: query, limit: maxMetrics})
	if err != nil {
		return nil, err
	}
	defer a.close()
	all, err := readMetrics(a.body)
	if err != nil {
		return nil, a.readError(err)
	}
	return all, nil
}

// MayReadMetrics reports whether the server lets the certificate read all
// metrics. A certificate of the type metrics may do that and nothing else, and
// Server reports it as untrusted. A server can also allow everybody.
func (c *Client) MayReadMetrics(ctx context.Context) (bool, error) {
	a, err := c.send(ctx, request{method: http.MethodGet, path: rootPath + "/metrics", limit: maxMetrics})
	switch {
	case err == nil:
		a.close()
		return true, nil
	case plugin.KindOf(err) == plugin.Denied, plugin.KindOf(err) == plugin.TokenRejected:
		return false, nil
	}
	return false, err
}

// readMetrics parses the text format of Prometheus as far as LXD and Incus use
// it.
func readMetrics(text io.Reader) ([]InstanceMetrics, error) {
	lines := bufio.NewReaderSize(text, maxLine)
	var all []InstanceMetrics
	at := map[InstanceRef]int{}
	for {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, errTooLarge
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case errors.Is(err, io.EOF) && len(line) == 0:
			return all, nil
		}
		figure, known, parseErr := readFigure(strings.TrimSpace(string(line)))
		if parseErr != nil {
			return nil, parseErr
		}
		if !known {
			continue
		}
		ref := InstanceRef{Project: figure.labels["project"], Name: figure.labels["name"]}
		if checkName(ref.Name) != nil || checkName(ref.Project) != nil {
			return nil, errShape
		}
		i, there := at[ref]
		if !there {
			if len(all) == maxRows {
				return nil, errTooLarge
			}
			i, at[ref] = len(all), len(all)
			all = append(all, InstanceMetrics{InstanceRef: ref})
		}
		all[i].take(figure)
	}
}

// take adds one value. Values of several CPUs, disks and interfaces are summed,
// without idle time and loopback.
func (m *InstanceMetrics) take(f figure) {
	switch f.name {
	case "cpu_seconds_total":
		if mode := f.labels["mode"]; mode != "idle" && mode != "iowait" {
			add(&m.CPUSeconds, f.value)
		}
	case "memory_MemTotal_bytes":
		add(&m.MemoryTotal, f.value)
	case "memory_MemAvailable_bytes":
		add(&m.MemoryAvailable, f.value)
	case "disk_read_bytes_total":
		add(&m.DiskRead, f.value)
	case "disk_written_bytes_total":
		add(&m.DiskWritten, f.value)
	case "network_receive_bytes_total":
		if f.labels["device"] != "lo" {
			add(&m.NetworkReceived, f.value)
		}
	case "network_transmit_bytes_total":
		if f.labels["device"] != "lo" {
			add(&m.NetworkSent, f.value)
		}
	case "filesystem_size_bytes":
		if f.labels["mountpoint"] == "/" {
			add(&m.RootSize, f.value)
		}
	case "filesystem_avail_bytes":
		if f.labels["mountpoint"] == "/" {
			add(&m.RootAvailable, f.value)
		}
	case "procs_total":
		add(&m.Processes, f.value)
	}
}

// add adds a value to an optional sum. A sum without any value stays nil, which
// means unknown and not zero.
func add(to **float64, value float64) {
	if *to == nil {
		*to = new(float64)
	}
	**to += value
}
