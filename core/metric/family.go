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
	{"cpu_usage_ratio", "ratio", "CPU usage as a fraction of all processors, 0 to 1.", "cpu", false},
	{"memory_used_bytes", "bytes", "Used memory.", "memory", false},
	{"memory_size_bytes", "bytes", "Total memory.", "memory_total", false},
	{"disk_used_bytes", "bytes", "Used disk space.", "disk", false},
	{"disk_size_bytes", "bytes", "Total disk space.", "disk_total", false},
	{"network_receive_bytes", "bytes", "Received data.", "net_in", true},
	{"network_transmit_bytes", "bytes", "Sent data.", "net_out", true},
	{"disk_read_bytes", "bytes", "Data read from disks.", "disk_read", true},
	{"disk_written_bytes", "bytes", "Data written to disks.", "disk_write", true},
}

// prefix returns the beginning of the names of a table's families.
func prefix(table string) string { return "hostler_" + table + "_" }
