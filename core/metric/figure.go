package metric

// Kind is the kind of a target, in the API's words. Samples are stored with the
// words of Kind.table.
type Kind string

// The kinds of targets.
const (
	Host    Kind = "host"
	Node    Kind = "node"
	VM      Kind = "vm"
	App     Kind = "app"
	Storage Kind = "storage"
)

// kinds are all of them.
var kinds = []Kind{Host, Node, VM, App, Storage}

// table returns the word with which samples of the kind are stored.
func (k Kind) table() string {
	if k == VM || k == App {
		return "guest"
	}
	return string(k)
}

// The units of figures.
const (
	Ratio          = "ratio"
	Bytes          = "bytes"
	BytesPerSecond = "bytes_per_second"
)

// merging is how several values of one step become one.
type merging int

// These are the ways to make one value of several.
const (
	mean merging = iota
	highest
	latest
	// rate is that of a counter: bytes that passed, by the time in which they did.
	rate
)

// figure is a measured quantity.
type figure struct {
	name, unit string
	// raw and rolled are its columns in the samples and in the roll-ups.
	raw, rolled string
	merge       merging
}

// figures are all figures, by the names of the API.
var figures = []figure{
	{"cpu", Ratio, "cpu", "cpu_avg", mean},
	{"cpu_max", Ratio, "cpu", "cpu_max", highest},
	{"memory", Bytes, "memory", "memory_avg", mean},
	{"memory_max", Bytes, "memory", "memory_max", highest},
	{"memory_total", Bytes, "memory_total", "memory_total", latest},
	{"disk", Bytes, "disk", "disk", latest},
	{"disk_total", Bytes, "disk_total", "disk_total", latest},
	{"net_in", BytesPerSecond, "net_in", "net_in", rate},
	{"net_out", BytesPerSecond, "net_out", "net_out", rate},
	{"disk_read", BytesPerSecond, "disk_read", "disk_read", rate},
	{"disk_write", BytesPerSecond, "disk_write", "disk_write", rate},
}

// of reports whether objects of the kind have the figure.
func (f *figure) of(k Kind) bool { return k != Storage || f.raw == "disk" || f.raw == "disk_total" }
