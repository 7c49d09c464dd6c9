package pvesim

import "fmt"

// nodeHardwareEndpoints serves the hardware of nodes.
func nodeHardwareEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/nodes/{node}/disks/list", listDisks),
		serve("GET", "/nodes/{node}/hardware/pci", listPCI),
		serve("GET", "/nodes/{node}/services", listServices),
		serve("GET", "/nodes/{node}/subscription", readSubscription),
		serve("GET", "/nodes/{node}/certificates/info", listCertificates),
		serve("GET", "/nodes/{node}/dns", readDNS),
		serve("GET", "/nodes/{node}/time", readTime),
	}
}

// listDisks has a disk that turns, which sleeps, a worn SSD and an NVMe.
// Without SMART nobody knows their health.
func listDisks(r *request) (result, *apiError) {
	unused := r.values.text("type") == "unused"
	rows := []map[string]any{}
	for i, d := range []struct {
		path, kind, model, used, health string
		rpm, left                       int
	}{
		{"/dev/nvme0n1", "nvme", "SAMSUNG MZQL2960HCJR-00A07", "ZFS", "PASSED", 0, 98},
		{"/dev/sda", "hdd", "ST4000NM000A-2HZ100", "LVM", "PASSED", 7200, -1},
		{"/dev/sdb", "ssd", "Micron_5300_MTFDDAK480TDS", "", "FAILED!", 0, 3},
	} {
		if unused && d.used != "" {
			continue
		}
		row := map[string]any{
			"devpath": d.path, "by_id_link": fmt.Sprintf("/dev/disk/by-id/wwn-0x5000c500a1b2c3d%d", i), "type": d.kind, "model": d.model,
			"vendor": "ATA     ", "serial": fmt.Sprintf("S%s%d", r.node.name, i), "wwn": fmt.Sprintf("0x5000c500a1b2c3d%d", i),
			"size": (int64(i) + 1) * 480 * gibibyte, "rpm": d.rpm, "gpt": 1, "mounted": 0, "osdid": -1, "osdid-list": nil,
			"health": "UNKNOWN", "wearout": "N/A",
		}
		if d.used != "" {
			row["used"] = d.used
		}
		if !r.values.boolean("skipsmart", false) {
			row["health"] = d.health
			if d.left >= 0 {
				row["wearout"] = d.left
			}
		}
		rows = append(rows, row)
	}
	return ok(rows)
}

// listPCI returns a fixed list of devices.
func listPCI(r *request) (result, *apiError) {
	return ok([]map[string]any{
		{"id": "0000:01:00.0", "class": "0x030000", "vendor": "0x10de", "vendor_name": "NVIDIA Corporation", "device": "0x2236",
			"device_name": "GA102GL [A10]", "subsystem_vendor": "0x10de", "subsystem_device": "0x1482",
			"subsystem_vendor_name": "NVIDIA Corporation", "iommugroup": 12},
		{"id": "0000:02:00.0", "class": "0x020000", "vendor": "0x8086", "vendor_name": "Intel Corporation", "device": "0x1572",
			"device_name": "Ethernet Controller X710 for 10GbE SFP+", "subsystem_vendor": "0x8086", "subsystem_device": "0x0001",
			"subsystem_vendor_name": "Intel Corporation", "iommugroup": -1},
	})
}

// listServices returns a fixed list of services.
func listServices(r *request) (result, *apiError) {
	rows := []map[string]any{}
	for _, s := range []struct{ name, desc, state, active, unit string }{
		{"pveproxy", "PVE API Proxy Server", "running", "active", "enabled"},
		{"pvedaemon", "PVE API Daemon", "running", "active", "enabled"},
		{"pve-cluster", "The Proxmox VE cluster filesystem", "running", "active", "enabled"},
		{"postfix", "Postfix Mail Transport Agent", "dead", "inactive", "not-found"},
	} {
		rows = append(rows, map[string]any{"name": s.name, "service": s.name, "desc": s.desc, "state": s.state, "active-state": s.active,
			"unit-state": s.unit})
	}
	return ok(rows)
}

// readSubscription leaves key and id of the server out for who may not audit the node.
func readSubscription(r *request) (result, *apiError) {
	answer := map[string]any{
		"status": "active", "productname": "Proxmox VE Community Subscription 1 CPU/year", "level": "c", "sockets": 1,
		"regdate": "2026-01-31 00:00:00", "nextduedate": "2027-01-31", "checktime": r.now.Unix() - 3600,
		"url": "https://www.proxmox.com/en/proxmox-virtual-environment/pricing",
	}
	if r.c.allowed(r.who, "/nodes/"+r.node.name, "Sys.Audit") {
		answer["key"], answer["serverid"] = "pve1c-0a1b2c3d4e", "0123456789ABCDEF0123456789ABCDEF"
		answer["signature"] = "c2lnbmF0dXJl"
	}
	return ok(answer)
}

// readDNS returns fixed name servers.
func readDNS(*request) (result, *apiError) {
	return ok(map[string]any{"search": "example.test", "dns1": "10.99.0.1"})
}

// readTime returns the time of the cluster.
func readTime(r *request) (result, *apiError) {
	now := r.now.Unix()
	return ok(map[string]any{"time": now, "localtime": now, "timezone": "Etc/UTC"})
}
