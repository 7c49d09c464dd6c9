package pve

import (
	"bytes"
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// These are properties of Proxmox VE's history of figures.
const (
	// generation is how often the hypervisor takes its figures.
	generation = 10 * time.Second
	// maxGenerations is how many of them it keeps.
	maxGenerations = 180
	// guestRows, nodeRows and storageRows are how many rows one generation has for each.
	guestRows, nodeRows, storageRows = 10, 14, 2
	// usualRows and gapRows bound what one export may bring: it is made in one
	// piece by the hypervisor, 110 bytes a row.
	usualRows = 50_000
	gapRows   = 200_000
	// gapAfter is how old the last detailed inventory is when something must have been missed.
	gapAfter = 10 * time.Minute
	// samplePage is how many samples a page carries.
	samplePage = 2048
)

// samples reads /cluster/metrics/export, which exists since 8.2. An older
// release, a token without the right and a host that fails at it have no
// samples; that is no error, because the inventory itself was passed on
// already.
//
// The export contains figures that the list does not have, network and load of
// nodes, and the readings between two inventories. Proxmox VE keeps half an
// hour; how much is read depends on the size of the cluster, because one
// generation of 10,000 guests is a hundred thousand rows.
func (h *Host) samples(ctx context.Context, since time.Time, b *pager) error {
	answer, err := h.api.Stream(ctx, "/cluster/metrics/export", exportWindow(since, time.Now(), b))
	if err == nil {
		defer answer.Close()
		now := answer.Meta().Date
		if now.IsZero() {
			now = time.Now()
		}
		s := &sampler{to: b.to, guests: b.nodesOfGuests, fresh: now.Add(-generation * 3 / 2).Unix()}
		if err = answer.Rows(&s.row, s.add); err == nil {
			return s.flush()
		}
		if s.failed != nil {
			return s.failed // of the caller's own making
		}
	}
	if ctx.Err() != nil {
		return err
	}
	switch plugin.KindOf(err) {
	case plugin.Untrusted, plugin.TokenRejected:
		return err
	}
	h.log.Debug("past metrics are not readable", "error", err)
	return nil
}

// exportWindow returns how far back to ask, by the host's clock. Without a
// window the answer contains only the newest generation.
func exportWindow(since, now time.Time, b *pager) url.Values {
	query := url.Values{}
	if since.IsZero() || !since.Before(now) {
		return query
	}
	perGeneration := max(1, guestRows*b.guests+nodeRows*len(b.members.order)+storageRows*b.bound)
	budget := usualRows
	if now.Sub(since) > gapAfter {
		budget = gapRows
	}
	count := min(maxGenerations, budget/perGeneration)
	if count < 2 {
		return query
	}
	start := now.Add(-time.Duration(count) * generation)
	if since.After(start) {
		start = since
	}
	query.Set("history", "1")
	query.Set("start-time", strconv.FormatInt(start.Add(b.skew).Unix(), 10))
	return query
}

// metricRow is one row of the export.
type metricRow struct {
	id, metric pveapi.Scalar
	at         figure
	value      share
}

var _ pveapi.RowDecoder = (*metricRow)(nil)

// Reset empties the row.
func (r *metricRow) Reset() { *r = metricRow{} }

// Field takes one member of the row.
func (r *metricRow) Field(name []byte, v pveapi.Scalar) {
	switch string(name) {
	case "id":
		r.id = v
	case "metric":
		r.metric = v
	case "timestamp":
		r.at.from(v)
	case "value":
		r.value.from(v)
	}
}

// metricOf maps the name of a metric. The load is the mean of one minute.
func metricOf(name []byte) string {
	switch string(name) {
	case "cpu_current":
		return "cpu"
	case "cpu_avg1":
		return "load"
	case "mem_used":
		return "memory"
	case "mem_total":
		return "memory_total"
	case "disk_used":
		return "disk"
	case "disk_total":
		return "disk_total"
	case "net_in":
		return "net_in"
	case "net_out":
		return "net_out"
	case "disk_read":
		return "disk_read"
	case "disk_write":
		return "disk_write"
	}
	return ""
}

// sampler converts rows of the export into samples.
type sampler struct {
	row metricRow
	to  func(hypervisor.Page) error
	// guests are the guests of this inventory by kind and id, for the node of a sample's guest.
	guests map[guestKey]*hypervisor.GuestRef
	// fresh is the time from which on the list has just brought the same
	// figures of guests and storages.
	fresh  int64
	page   []hypervisor.Sample
	failed error
}

// guestKey identifies a guest in the history.
type guestKey struct {
	kind hypervisor.GuestKind
	id   int64
}

// add adds the row that was just read, unless its metric or its subject is
// unknown.
func (s *sampler) add() error {
	sample := hypervisor.Sample{Metric: metricOf(s.row.metric.Bytes()), Value: s.row.value.f}
	if sample.Metric == "" || !s.row.value.set || !s.row.at.set || !s.subject(&sample) {
		return nil
	}
	sample.At = time.Unix(s.row.at.n, 0).UTC()
	if s.page == nil {
		s.page = make([]hypervisor.Sample, 0, samplePage)
	}
	s.page = append(s.page, sample)
	if len(s.page) == samplePage {
		return s.flush()
	}
	return nil
}

// subject reads the subject of a row: node/NAME, qemu/ID, lxc/ID or
// storage/NODE/NAME. It returns false for rows that are not needed: guests that
// no longer exist, and values that the inventory itself reports fresher.
func (s *sampler) subject(sample *hypervisor.Sample) bool {
	kind, rest, ok := bytes.Cut(s.row.id.Bytes(), []byte("/"))
	if !ok || len(rest) == 0 {
		return false
	}
	switch string(kind) {
	case "node":
		sample.Node = string(rest)
		return true
	case "qemu", "lxc":
		if s.row.at.n >= s.fresh {
			return false
		}
		key := guestKey{kind: hypervisor.VM}
		if string(kind) == "lxc" {
			key.kind = hypervisor.Container
		}
		key.id, ok = pveapi.TextScalar(rest).Int()
		if !ok {
			return false
		}
		// A guest that is not in the list does not exist any more.
		sample.Guest = s.guests[key]
		return sample.Guest != nil
	case "storage":
		node, name, ok := bytes.Cut(rest, []byte("/"))
		if !ok || s.row.at.n >= s.fresh {
			return false
		}
		sample.Node, sample.Storage = string(node), string(name)
		return true
	}
	return false
}

// flush passes the samples to the caller.
func (s *sampler) flush() error {
	if len(s.page) == 0 {
		return nil
	}
	page := hypervisor.Page{Samples: s.page}
	s.page = nil
	s.failed = s.to(page)
	return s.failed
}
