package metric

// family is a figure in the form for Prometheus and compatible databases. Names
// end in their unit, as OpenMetrics requires.
type family struct {
	// name without what tells of whose figure it is.
	name, unit, help string
	// column is that of the samples, counter whether it only ever grows until it begins anew.
	column  string
	counter bool
}

// measured are the families with samples, of guests, nodes, hosts and storages.
var measured = []family{
	{"cpu_usage_ratio", "ratio", "Used part of the processors, 1 for all of them.", "cpu", false},
	{"memory_used_bytes", "bytes", "Memory that is used.", "memory", false},
	{"memory_size_bytes", "bytes", "Memory that there is.", "memory_total", false},
	{"disk_used_bytes", "bytes", "Disk space that is used.", "disk", false},
	{"disk_size_bytes", "bytes", "Disk space that there is.", "disk_total", false},
	{"network_receive_bytes", "bytes", "What was received.", "net_in", true},
	{"network_transmit_bytes", "bytes", "What was sent.", "net_out", true},
	{"disk_read_bytes", "bytes", "What was read from disks.", "disk_read", true},
	{"disk_written_bytes", "bytes", "What was written to disks.", "disk_write", true},
}

// prefix returns the beginning of the names of a table's families.
func prefix(table string) string { return "hostler_" + table + "_" }
