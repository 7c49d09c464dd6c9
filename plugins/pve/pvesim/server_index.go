package pvesim

// indexEndpoints are the directory listings. They name what a real server has, not only what is simulated.
func indexEndpoints() []*endpoint {
	listing := func(path, key string, names ...string) *endpoint {
		return &endpoint{method: "GET", path: path, run: func(*request) (result, *apiError) { return ok(index(key, names...)) }}
	}
	onNode := func(e *endpoint) *endpoint { e.onNode = true; return e }
	return []*endpoint{
		listing("/", "subdir", "version", "cluster", "nodes", "storage", "access", "pools"),
		listing("/access", "subdir", "users", "groups", "roles", "acl", "domains", "openid", "tfa", "ticket", "password"),
		listing("/cluster", "name", "acme", "backup", "backup-info", "bulk-action", "ceph", "config", "firewall", "ha", "jobs",
			"log", "mapping", "metrics", "notifications", "nextid", "options", "qemu", "replication", "resources", "status",
			"tasks", "sdn"),
		listing("/cluster/metrics", "name", "server", "export"),
		listing("/nodes/{node}", "name", "aplinfo", "apt", "capabilities", "ceph", "certificates", "config", "disks", "dns",
			"firewall", "hardware", "hosts", "journal", "lxc", "migrateall", "netstat", "network", "qemu", "query-oci-repo-tags",
			"query-url-metadata", "replication", "report", "rrd", "rrddata", "scan", "sdn", "services", "spiceshell", "startall",
			"status", "stopall", "storage", "subscription", "suspendall", "syslog", "tasks", "termproxy", "time", "version",
			"vncshell", "vzdump", "wakeonlan"),
		listing("/nodes/{node}/tasks/{upid}", "name", "log", "status"),
		onNode(listing("/nodes/{node}/qemu/{vmid}", "subdir", "config", "cloudinit", "pending", "status", "unlink", "vncproxy",
			"termproxy", "migrate", "resize", "move", "rrd", "rrddata", "monitor", "agent", "snapshot", "spiceproxy", "sendkey",
			"firewall", "mtunnel", "remote_migrate")),
		onNode(listing("/nodes/{node}/lxc/{vmid}", "subdir", "config", "pending", "status", "vncproxy", "termproxy",
			"vncwebsocket", "spiceproxy", "migrate", "clone", "rrd", "rrddata", "firewall", "snapshot", "resize", "interfaces")),
		onNode(listing("/nodes/{node}/qemu/{vmid}/status", "subdir", "current", "start", "stop", "reset", "shutdown", "suspend", "reboot")),
		onNode(listing("/nodes/{node}/lxc/{vmid}/status", "subdir", "current", "start", "stop", "shutdown", "reboot", "migrate")),
	}
}
