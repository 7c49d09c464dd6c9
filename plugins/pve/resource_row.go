package pve

import (
	"bytes"

	"github.com/hostler/hostler/plugins/pve/pveapi"
)

// figure is a whole number that may be missing.
type figure struct {
	n   int64
	set bool
}

// from reads a whole number.
func (f *figure) from(v pveapi.Scalar) { f.n, f.set = v.Int() }

// share is a fraction or a count that may be missing.
type share struct {
	f   float64
	set bool
}

// from reads a fraction.
func (s *share) from(v pveapi.Scalar) { s.f, s.set = v.Float() }

// resourceRow is one row of /cluster/resources, of any type. A guest's
// status/current has the same members except `cpus`. Its texts are valid until
// the next row is read.
type resourceRow struct {
	typ, id, node, name, status, qmp, lock, pool, tags pveapi.Scalar
	storage, plugin, content, level                    pveapi.Scalar
	template, shared                                   bool
	vmid, mem, maxmem, disk, maxdisk, uptime           figure
	netin, netout, diskread, diskwrite                 figure
	cpu, cpus                                          share
}

var _ pveapi.RowDecoder = (*resourceRow)(nil)

// Reset empties the row.
func (r *resourceRow) Reset() { *r = resourceRow{} }

// Field implements pveapi.RowDecoder. It takes one member of a row of
// /cluster/resources. Scalars point into the buffer of the decoder and are only
// valid until the next row, so nothing is copied here; the list has thousands
// of rows.
func (r *resourceRow) Field(name []byte, v pveapi.Scalar) {
	switch string(name) {
	case "type":
		r.typ = v
	case "id":
		r.id = v
	case "node":
		r.node = v
	case "name":
		r.name = v
	case "status":
		r.status = v
	case "qmpstatus":
		r.qmp = v
	case "lock":
		r.lock = v
	case "pool":
		r.pool = v
	case "tags":
		r.tags = v
	case "storage":
		r.storage = v
	case "plugintype":
		r.plugin = v
	case "content":
		r.content = v
	case "level":
		r.level = v
	case "template":
		r.template = v.Bool()
	case "shared":
		r.shared = v.Bool()
	case "vmid":
		r.vmid.from(v)
	case "mem":
		r.mem.from(v)
	case "maxmem":
		r.maxmem.from(v)
	case "disk":
		r.disk.from(v)
	case "maxdisk":
		r.maxdisk.from(v)
	case "uptime":
		r.uptime.from(v)
	case "netin":
		r.netin.from(v)
	case "netout":
		r.netout.from(v)
	case "diskread":
		r.diskread.from(v)
	case "diskwrite":
		r.diskwrite.from(v)
	case "cpu":
		r.cpu.from(v)
	case "maxcpu", "cpus":
		r.cpus.from(v)
	}
}

// guestID returns the VMID of the row. Old releases and incomplete rows have it
// only in the id.
func (r *resourceRow) guestID() int64 {
	if r.vmid.set {
		return r.vmid.n
	}
	_, id, _ := bytes.Cut(r.id.Bytes(), []byte("/"))
	var n figure
	n.from(pveapi.TextScalar(id))
	return n.n
}

// nodeName returns the node of the row, or the last part of its id.
func (r *resourceRow) nodeName(in *intern) string {
	if !r.node.Null() {
		return in.text(r.node)
	}
	return string(r.id.Bytes()[bytes.LastIndexByte(r.id.Bytes(), '/')+1:])
}
