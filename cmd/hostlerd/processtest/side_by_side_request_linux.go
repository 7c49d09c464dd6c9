package processtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
)

// sideHost is what placeholders of requests to a host stand for, by name. The key driver tells the hosts apart.
type sideHost map[string]string

// names are those that both hosts have.
func (s *sideBySide) names(t *testing.T, driver string, id int64, address, node string, vm, app int64) sideHost {
	t.Helper()
	var jobs []jobView
	s.owner.must(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/jobs?host=%d&status=succeeded", id), nil, &jobs)
	if len(jobs) == 0 {
		t.Fatal("the host has had no job")
	}
	var host struct {
		Name        string
		Fingerprint string `json:"tls_fingerprint"`
	}
	s.owner.must(t, http.StatusOK, http.MethodGet, s.hostPath(id, ""), nil, &host)
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return sideHost{
		"driver": driver, "host": host.Name, "host_id": number(id), "address": strings.TrimPrefix(address, "https://"), "node": node,
		"vm_id": number(vm), "app_id": number(app), "job_id": number(jobs[len(jobs)-1].ID), "upid": jobs[len(jobs)-1].TaskID, // the oldest
		"fingerprint": host.Fingerprint, "name": "absent", "action": "start",
	}
}

// pveNames makes an app of a container when there is none.
func (s *sideBySide) pveNames(t *testing.T) sideHost {
	t.Helper()
	var apps []struct{ ID int64 }
	s.owner.must(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/apps?host=%d", s.pveHost), nil, &apps)
	if len(apps) == 0 {
		container := find(t, s.owner, "/api/v1/apps/discovered", "running")
		s.owner.must(t, http.StatusOK, http.MethodPost, "/api/v1/apps/adopt",
			map[string]any{"items": []any{map[string]any{"host_id": s.pveHost, "vmid": container.VMID}}}, &apps)
	}
	return s.names(t, "pve", s.pveHost, s.pve.URL, "pve1", s.vm.ID, apps[0].ID)
}

func (s *sideBySide) lxdNames(t *testing.T) sideHost {
	t.Helper()
	container := s.guests(t, fmt.Sprintf("?host=%d&q=spare", s.lxdHost))[0]
	return s.names(t, "lxd", s.lxdHost, s.lxd.Address, s.node, container.ID, s.apps["web"].id)
}

// quotedID is a placeholder for a number as it stands in JSON.
var quotedID = regexp.MustCompile(`"(\{[a-z]+_id\})"`)

// fill puts names in the places of their placeholders.
func (h sideHost) fill(text string, escape func(string) string) string {
	for name, value := range h {
		text = strings.ReplaceAll(text, "{"+name+"}", escape(value))
	}
	return text
}

// make is the request to a host.
func (r sideRequest) make(t testing.TB, base string, o declaredOperation, host sideHost) *http.Request {
	t.Helper()
	target := base + host.fill(sideHost(r.params).fill(o.path, url.PathEscape), url.PathEscape)
	if r.query != "" {
		target += "?" + host.fill(r.query, url.QueryEscape)
	}
	body := ""
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			t.Fatal(err)
		}
		body = host.fill(quotedID.ReplaceAllString(string(text), "$1"), func(value string) string { return value })
	}
	request, err := http.NewRequestWithContext(t.Context(), o.method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if strings.Contains(target, "{") {
		t.Fatalf("%s has a placeholder that nothing stands for: %s", o.ID, target)
	}
	return request
}

// follow keeps what an answer made, and waits for the end of its job, of whose texts none may have words of the other kind.
func (s *sideBySide) follow(t *testing.T, host sideHost, answer *apitest.Response) {
	t.Helper()
	var made struct {
		ID   int64
		Job  jobView
		Jobs []jobView
	}
	if answer.Status == http.StatusCreated && json.Unmarshal(answer.Body, &made) == nil {
		host["schedule_id"] = strconv.FormatInt(made.ID, 10)
	}
	if answer.Status != http.StatusAccepted || json.Unmarshal(answer.Body, &made) != nil {
		return
	}
	if made.Job.ID != 0 {
		made.Jobs = append(made.Jobs, made.Job)
	}
	for _, j := range made.Jobs {
		if end := ended(t, s.owner, j.ID); end.Status != "succeeded" {
			t.Errorf("the job %s of %s ended %s: %s", end.Kind, host["driver"], end.Status, end.Error)
		}
		for _, below := range []string{"", "/events"} {
			path := fmt.Sprintf("/api/v1/jobs/%d%s", j.ID, below)
			s.words(t, path, host, s.owner.must(t, http.StatusOK, http.MethodGet, path, nil, nil).Body)
		}
	}
}

// words holds an answer, without the rows of its lists that are the other host's, against the words of the other kind.
func (s *sideBySide) words(t *testing.T, what string, host sideHost, body []byte) {
	t.Helper()
	other, otherDriver := s.lxdHost, "lxd"
	if host["driver"] == otherDriver {
		other, otherDriver = s.pveHost, "pve"
	}
	var rows []map[string]any
	var lists map[string]any
	if json.Unmarshal(body, &rows) == nil {
		body, _ = json.Marshal(without(rows, float64(other), otherDriver, nil)) // which was JSON before
	} else if json.Unmarshal(body, &lists) == nil && lists["by_host"] != nil {
		body = summaryWithout(body, float64(other), otherDriver)
	}
	if found := foreign(t, host["driver"], body); len(found) > 0 {
		t.Errorf("%s: of the %s host in words of the other kind: %q", what, host["driver"], found)
	}
}

// without are the rows that are not of the host, its driver, or its cluster where that is known, nor of the service itself, whose
// maintenance may come at any time.
func without(rows []map[string]any, host float64, driver string, cluster any) []map[string]any {
	return slices.DeleteFunc(rows, func(row map[string]any) bool {
		details, _ := row["details"].(map[string]any)
		target, _ := row["target"].(map[string]any)
		return row["host_id"] == host || cluster != nil && row["cluster_id"] == cluster ||
			slices.Contains([]any{row["target_kind"], target["kind"]}, any("instance")) ||
			slices.Contains([]any{row["driver"], details["driver"], row["name"]}, any(driver))
	})
}

// summaryWithout is the summary of all clusters without the rows of a host and its cluster.
func summaryWithout(body []byte, host float64, driver string) []byte {
	var summary struct {
		Problems  []map[string]any `json:"problems"`
		ByCluster []map[string]any `json:"by_cluster"`
		ByHost    []map[string]any `json:"by_host"`
	}
	_ = json.Unmarshal(body, &summary) // which is JSON
	var cluster any
	for _, row := range summary.ByHost {
		if row["id"] == host {
			cluster = row["cluster_id"]
		}
	}
	summary.Problems = without(summary.Problems, host, driver, cluster)
	summary.ByHost = without(summary.ByHost, host, driver, cluster)
	summary.ByCluster = slices.DeleteFunc(summary.ByCluster, func(row map[string]any) bool { return row["id"] == cluster })
	kept, _ := json.Marshal(summary)
	return kept
}
