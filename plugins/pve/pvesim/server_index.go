package pvesim

// indexEndpoints are the directory listings. They name what a real server has, not only what is simulated.
func indexEndpoints() []*endpoint {
	listing := func(path, key string, names ...string) *endpoint {
		rows := make([]map[string]any, len(names))
		for i, n := range names {
			rows[i] = map[string]any{key: n}
		}
		return serve("GET", path, func(*request) (result, *apiError) { return ok(rows) })
	}
	return []*endpoint{
		listing("/", "subdir", "version", "cluster", "nodes", "storage", "access", "pools").undocumented(),
		listing("/access", "subdir", "users", "groups", "roles", "acl", "domains", "openid", "tfa", "ticket", "password"),
		listing("/cluster", "name", "acme", "backup", "backup-info", "bulk-action", "ceph", "config", "firewall", "ha", "jobs",
			"log", "mapping", "metrics", "notifications", "nextid", "options", "qemu", "replication", "resources", "status",
			"tasks", "sdn"),
		listing("/cluster/firewall", "name", "aliases", "rules", "options", "groups", "ipset", "macros", "refs"),
		listing("/nodes/{node}/firewall", "name", "rules", "options", "log"),
		listing("/nodes/{node}/qemu/{vmid}/firewall", "name", "rules", "aliases", "ipset", "refs", "options"),
		listing("/nodes/{node}/lxc/{vmid}/firewall", "name", "rules", "aliases", "ipset", "refs", "options"),
		listing("/cluster/metrics", "name", "server", "export"),
		listing("/nodes/{node}", "name", "aplinfo", "apt", "capabilities", "ceph", "certificates", "config", "disks", "dns",
			"firewall", "hardware", "hosts", "journal", "lxc", "migrateall", "netstat", "network", "qemu", "query-oci-repo-tags",
			"query-url-metadata", "replication", "report", "rrd", "rrddata", "scan", "sdn", "services", "spiceshell", "startall",
			"status", "stopall", "storage", "subscription", "suspendall", "syslog", "tasks", "termproxy", "time", "version",
			"vncshell", "vzdump", "wakeonlan"),
		listing("/nodes/{node}/storage/{storage}", "subdir", "content", "download-url", "file-restore", "import-metadata", "identity",
			"oci-registry-pull", "prunebackups", "rrd", "rrddata", "status", "upload"),
		listing("/nodes/{node}/tasks/{upid}", "name", "log", "status"),
		listing("/nodes/{node}/qemu/{vmid}", "subdir", "config", "cloudinit", "pending", "status", "unlink", "vncproxy",
			"termproxy", "migrate", "resize", "move", "rrd", "rrddata", "monitor", "agent", "snapshot", "spiceproxy", "sendkey",
			"firewall", "mtunnel", "remote_migrate"),
		listing("/nodes/{node}/lxc/{vmid}", "subdir", "config", "pending", "status", "vncproxy", "termproxy",
			"vncwebsocket", "spiceproxy", "migrate", "clone", "rrd", "rrddata", "firewall", "snapshot", "resize", "interfaces"),
		listing("/nodes/{node}/qemu/{vmid}/status", "subdir", "current", "start", "stop", "reset", "shutdown", "suspend", "reboot"),
		listing("/nodes/{node}/lxc/{vmid}/status", "subdir", "current", "start", "stop", "shutdown", "reboot", "migrate"),
	}
}
