package toy

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/hostler/hostler/sdk/hypervisor"
)

const (
	// pageRows is how many guests a page holds.
	pageRows = 200
	// maxList limits the list of guests in bytes, some hundred thousand of them.
	maxList = 64 << 20
)

// Inventory implements hypervisor.Host with two requests, however many guests there are. The list is read as it comes and
// handed on page by page, so that a large one never lies in memory as a whole.
func (h *Host) Inventory(ctx context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
	first, err := h.machine(ctx)
	if err != nil {
		return err
	}
	resp, err := h.client.send(ctx, http.MethodGet, "/v1/guests", nil, nil)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := page(first); err != nil {
		return err
	}
	rows := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, maxList))
	if _, err := rows.Token(); err != nil { // the opening bracket
		return decodeError(ctx, err)
	}
	guests := make([]hypervisor.Guest, 0, pageRows)
	for rows.More() {
		var r row
		if err := rows.Decode(&r); err != nil {
			return decodeError(ctx, err)
		}
		if guests = append(guests, r.guest()); len(guests) == pageRows {
			if err := page(hypervisor.Page{Guests: guests}); err != nil {
				return err // the caller's own, as it is
			}
			guests = make([]hypervisor.Guest, 0, pageRows) // the page is the caller's now
		}
	}
	// A list without its closing bracket was cut: the guests that did not come are not gone.
	if _, err := rows.Token(); err != nil {
		return decodeError(ctx, err)
	}
	if len(guests) == 0 {
		return nil
	}
	return page(hypervisor.Page{Guests: guests})
}

// machine makes the first page, which is the only one with the cluster.
func (h *Host) machine(ctx context.Context) (hypervisor.Page, error) {
	var m struct {
		Name     string
		Cores    float64
		Memory   int64
		Used     int64
		Uptime   int64
		Storages []struct {
			Name string
			Used int64
			Size int64
		}
	}
	if _, err := h.client.get(ctx, "/v1/machine", nil, &m); err != nil {
		return hypervisor.Page{}, err
	}
	p := hypervisor.Page{
		// A machine alone has no cluster's name. Who may read /v1/guests sees all of them, so the picture is never partial.
		Cluster: &hypervisor.Cluster{Quorate: true, Entry: m.Name},
		Nodes: []hypervisor.Node{{
			Name: m.Name, Status: hypervisor.NodeOnline, CPUs: &m.Cores, Memory: &m.Used, MemoryTotal: &m.Memory, Uptime: &m.Uptime,
		}},
	}
	for _, s := range m.Storages {
		p.Storages = append(p.Storages, hypervisor.Storage{
			Name: s.Name, Node: m.Name, Type: "dir", Status: "available", Content: []string{"images"}, Used: &s.Used, Total: &s.Size,
		})
	}
	return p, nil
}
