package pvesim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// ControlHandler serves the control interface that the package comment describes.
func (c *Cluster) ControlHandler() http.Handler {
	return controlMux(func(*http.Request) (*Cluster, error) { return c, nil })
}

// controlMux serves the control interface of a cluster that pick selects.
func controlMux(pick func(*http.Request) (*Cluster, error)) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, f func(c *Cluster, r *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			c, err := pick(r)
			var out any
			if err == nil {
				out, err = f(c, r)
			}
			w.Header().Set("Content-Type", "application/json")
			if err != nil {
				w.WriteHeader(http.StatusBadRequest)
				out = map[string]string{"error": err.Error()}
			}
			if out == nil {
				out = map[string]bool{"ok": true}
			}
			_ = json.NewEncoder(w).Encode(out) // the client may be gone
		})
	}
	handle("GET /stats", func(c *Cluster, _ *http.Request) (any, error) { return c.Stats(), nil })
	handle("POST /stats/reset", func(c *Cluster, _ *http.Request) (any, error) { c.ResetStats(); return nil, nil })
	handle("GET /fault", func(c *Cluster, _ *http.Request) (any, error) { return c.Faults(), nil })
	handle("POST /fault", controlAddFault)
	handle("DELETE /fault", controlClearFault)
	handle("POST /clock", controlClock)
	handle("POST /guest", controlGuest)
	handle("POST /node", controlNode)
	handle("POST /network", controlNetwork)
	handle("POST /storage", controlStorage)
	handle("POST /task", controlTask)
	handle("POST /token", controlToken)
	handle("POST /role", controlRole)
	handle("POST /acl", controlACL)
	handle("POST /certificate", controlCertificate)
	handle("POST /option", controlOption)
	handle("GET /firewall", controlFirewalls)
	handle("POST /firewall", controlSetFirewalls)
	handle("POST /firewall/clients", controlFirewallClients)
	handle("POST /firewall/log", controlFirewallLog)
	return mux
}

// decodeControl reads a JSON body; an unknown member is an error, so that a
// misspelt fault does not pass for none.
func decodeControl(r *http.Request, into any) error {
	dec := json.NewDecoder(io.LimitReader(r.Body, 1<<20))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("reading control request: %w", err)
	}
	return nil
}

// controlAddFault sets a fault.
func controlAddFault(c *Cluster, r *http.Request) (any, error) {
	var f Fault
	if err := decodeControl(r, &f); err != nil {
		return nil, err
	}
	id, err := c.AddFault(f)
	return map[string]int{"id": id}, err
}

// controlClearFault removes one fault, or all of them.
func controlClearFault(c *Cluster, r *http.Request) (any, error) {
	q := r.URL.Query().Get("id")
	if q == "" {
		c.ClearFaults()
		return nil, nil
	}
	id, err := strconv.Atoi(q)
	if err != nil {
		return nil, fmt.Errorf("fault id %q is no number", q)
	}
	c.ClearFaults(id)
	return nil, nil
}

// controlClock advances the cluster's clock.
func controlClock(c *Cluster, r *http.Request) (any, error) {
	var in struct {
		Advance float64 `json:"advance_s"`
	}
	if err := decodeControl(r, &in); err != nil {
		return nil, err
	}
	if in.Advance < 0 || in.Advance > 1e9 {
		return nil, errors.New("advance_s is not in 0 to 1e9")
	}
	c.Advance(time.Duration(in.Advance * float64(time.Second)))
	return map[string]string{"now": c.Now().UTC().Format(time.RFC3339Nano)}, nil
}

// controlTask adds a task of somebody to a node's archive.
func controlTask(c *Cluster, r *http.Request) (any, error) {
	var in struct {
		Node string  `json:"node"`
		User string  `json:"user"`
		Type string  `json:"type"`
		Ago  float64 `json:"ago_s"`
	}
	if err := decodeControl(r, &in); err != nil {
		return nil, err
	}
	if in.Ago < 0 || in.Ago > 1e9 {
		return nil, errors.New("ago_s is not in 0 to 1e9")
	}
	return nil, c.AddPastTask(in.Node, in.User, in.Type, time.Duration(in.Ago*float64(time.Second)))
}

// controlStorage changes what is given of a storage.
func controlStorage(c *Cluster, r *http.Request) (any, error) {
	var in struct {
		ID       string `json:"id"`
		Used     *int64 `json:"used"`
		Away     *bool  `json:"away"`
		Disabled *bool  `json:"disabled"`
	}
	if err := decodeControl(r, &in); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	s := c.storageByID(in.ID)
	switch {
	case s == nil:
		return nil, fmt.Errorf("no storage %q", in.ID)
	case in.Used != nil && (*in.Used < 1 || *in.Used > s.size):
		return nil, fmt.Errorf("used is not in 1 to %d", s.size)
	}
	assign(&s.used, in.Used)
	assign(&s.away, in.Away)
	assign(&s.disabled, in.Disabled)
	c.generation++
	return nil, nil
}

// controlNode changes the state of a node.
func controlNode(c *Cluster, r *http.Request) (any, error) {
	var in struct {
		Name     string `json:"name"`
		Online   *bool  `json:"online"`
		Resolves *bool  `json:"resolves"`
		Power    *struct {
			DownMS int64 `json:"down_ms"`
			AwayMS int64 `json:"away_ms"`
			Stays  bool  `json:"stays"`
			Lost   bool  `json:"lost"`
		} `json:"power"`
	}
	if err := decodeControl(r, &in); err != nil {
		return nil, err
	}
	if p := in.Power; p != nil {
		return nil, c.SetNodePower(in.Name, NodePower{Down: time.Duration(p.DownMS) * time.Millisecond,
			Away: time.Duration(p.AwayMS) * time.Millisecond, Stays: p.Stays, Lost: p.Lost})
	}
	if in.Resolves != nil {
		c.SetNodeResolves(in.Name, *in.Resolves)
	}
	if in.Online == nil && in.Resolves == nil {
		return nil, errors.New("neither online nor resolves nor power is given")
	}
	if in.Online == nil {
		return nil, nil
	}
	return nil, c.SetNodeOnline(in.Name, *in.Online)
}

// controlNetwork changes what is given of a node's network.
func controlNetwork(c *Cluster, r *http.Request) (any, error) {
	var in struct {
		Node    string        `json:"node"`
		Files   *NodeFiles    `json:"files"`
		Apply   *NetworkApply `json:"apply"`
		Restore bool          `json:"restore"`
	}
	err := decodeControl(r, &in)
	if err == nil && in.Files != nil {
		err = c.SetNodeFiles(in.Node, *in.Files)
	}
	if err == nil && in.Apply != nil {
		err = c.SetNetworkApply(in.Node, *in.Apply)
	}
	if err == nil && in.Restore {
		err = c.RestoreNetwork(in.Node)
	}
	if err != nil {
		return nil, err
	}
	return c.NodeFiles(in.Node)
}

// controlToken revokes or expires a token.
func controlToken(c *Cluster, r *http.Request) (any, error) {
	var in struct {
		ID     string `json:"id"`
		Op     string `json:"op"`
		Revoke bool   `json:"revoke"`
		Expire bool   `json:"expire"`
	}
	if err := decodeControl(r, &in); err != nil {
		return nil, err
	}
	switch {
	case in.Op == "revoke" || in.Revoke:
		return nil, c.RevokeToken(in.ID)
	case in.Op == "expire" || in.Expire:
		return nil, c.ExpireToken(in.ID)
	}
	return nil, errors.New("op is neither revoke nor expire")
}

// controlCertificate gives a node another certificate.
func controlCertificate(c *Cluster, r *http.Request) (any, error) {
	var in struct {
		Node string `json:"node"`
	}
	if r.ContentLength != 0 {
		if err := decodeControl(r, &in); err != nil {
			return nil, err
		}
	}
	fp, err := c.RenewCertificate(in.Node)
	return map[string]string{"fingerprint": fp}, err
}

// controlOption changes settings that are given.
func controlOption(c *Cluster, r *http.Request) (any, error) {
	var in struct {
		ResourcesLag *int   `json:"resources_lag_ms"`
		Latency      *int   `json:"latency_ms"`
		Task         *int   `json:"task_ms"`
		AuthDelay    *int   `json:"auth_delay_ms"`
		ExitLag      *int   `json:"exit_lag_ms"`
		Firewall     *int   `json:"firewall_ms"`
		UploadRoom   *int64 `json:"upload_room_bytes"`
		// ConsoleRelease is that of the packages behind consoles; empty is that of the options.
		ConsoleRelease *string `json:"console_release"`
	}
	if err := decodeControl(r, &in); err != nil {
		return nil, err
	}
	for _, o := range []struct {
		ms  *int
		set func(time.Duration)
	}{{in.ResourcesLag, c.SetResourcesLag}, {in.Latency, c.SetLatency}, {in.Task, c.SetTaskDuration}, {in.AuthDelay, c.SetAuthDelay},
		{in.ExitLag, c.SetExitLag}, {in.Firewall, c.SetFirewallDelay}} {
		if o.ms != nil {
			o.set(time.Duration(*o.ms) * time.Millisecond)
		}
	}
	if in.UploadRoom != nil {
		c.SetUploadRoom(*in.UploadRoom)
	}
	if in.ConsoleRelease != nil {
		return nil, c.SetConsoleRelease(*in.ConsoleRelease)
	}
	return nil, nil
}
