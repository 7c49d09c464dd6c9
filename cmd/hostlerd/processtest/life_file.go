package processtest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/hostler/hostler/internal/waittest"
)

// fileStep is a job on the files of the storage "nas".
type fileStep struct {
	name, method, path string // path is below the storage's
	body               map[string]any
	sends              string // the request that is sent once
	// volume is there afterwards, or not.
	volume string
	there  bool
	// status and says are how the job ends.
	status, says string
}

// removal is the request that deletes what is on a storage.
const removal = "DELETE /nodes/{node}/storage/{storage}/content/{volume}"

// files has the hypervisor fetch files to a storage, and deletes others, all at once: the victim dies when all of the requests were
// carried out and none is answered. One deletion takes long then. Nobody can tell its task from those of other deletions, so that its job
// ends without knowing what has come of it.
func (l *life) files() {
	l.t.Helper()
	const template = "debian-13-standard_13.1-2_amd64.tar.zst"
	fetch := func(name string) fileStep {
		return fileStep{name: "fetching " + name, method: http.MethodPost, path: "/content/download", volume: "nas:iso/" + name, there: true,
			body:  map[string]any{"url": "https://files.example.com/a.iso?key=1", "content": "iso", "filename": name},
			sends: "POST /nodes/{node}/storage/{storage}/download-url", status: "succeeded"}
	}
	remove := func(name string) fileStep {
		return fileStep{name: "deleting " + name, method: http.MethodDelete, path: "/content/nas:iso/" + name, volume: "nas:iso/" + name,
			body: map[string]any{"confirm": name}, sends: removal, status: "succeeded"}
	}
	for _, name := range []string{"first.iso", "second.iso"} {
		s := fetch(name)
		l.fileEnds(s, l.fileJob(s))
	}
	steps := []fileStep{fetch("third.iso"), remove("first.iso"), {
		name: "fetching the template", method: http.MethodPost, path: "/templates", volume: "nas:vztmpl/" + template, there: true,
		body: map[string]any{"template": template}, sends: "POST /nodes/{node}/aplinfo", status: "succeeded"}}
	doubt := remove("second.iso")
	doubt.status, doubt.says, doubt.there = "unknown", "the volume still exists", true
	before := l.cluster.stats(l.t).Requests
	var jobs []int64
	if l.victim == noVictim {
		for _, s := range steps {
			jobs = append(jobs, l.fileJob(s))
		}
	} else {
		for i, s := range append(steps, doubt) {
			if s.name == doubt.name {
				l.cluster.control(l.t, http.MethodPost, "/option", map[string]any{"task_ms": 600_000}, nil)
			}
			strikes := struck(l.t, l.cluster)
			method, path, _ := strings.Cut(s.sends, " ")
			l.cluster.fault(l.t, map[string]any{"kind": "delay", "delay_ms": 30000, "times": 1, "after": true,
				"match": map[string]any{"method": method, "path": path}})
			jobs = append(jobs, l.fileJob(s))
			waittest.Until(l.t, s.name+" was carried out", func() bool { return struck(l.t, l.cluster) > strikes })
			if i == len(steps) {
				l.kill()
			}
		}
		steps = append(steps, doubt)
	}
	wanted := map[string]int{}
	for i, s := range steps {
		l.fileEnds(s, jobs[i])
		wanted[s.sends]++
	}
	after := l.cluster.stats(l.t).Requests
	for request, n := range wanted {
		if sent := after[request] - before[request]; sent != n {
			l.t.Errorf("%s was sent %d times for %d jobs", request, sent, n)
		}
	}
}

// fileJob asks for the job of a step.
func (l *life) fileJob(s fileStep) int64 {
	l.t.Helper()
	var reply struct{ Job jobView }
	l.owner.must(l.t, http.StatusAccepted, s.method, fmt.Sprintf("/api/v1/storage/%d/nas%s", l.host, s.path), s.body, &reply)
	return reply.Job.ID
}

// fileEnds holds how a job ends, and what is on the storage then.
func (l *life) fileEnds(s fileStep, job int64) {
	l.t.Helper()
	end := ended(l.t, l.owner, job)
	if string(end.Status) != s.status || !strings.Contains(end.Error, s.says) {
		l.t.Errorf("%s ended %s: %s\n%s", s.name, end.Status, end.Error, transcript(l.t, l.owner, job))
	}
	var all []struct {
		ID string `json:"volid"`
	}
	l.owner.must(l.t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/storage/%d/nas/content", l.host), nil, &all)
	there := 0
	for _, v := range all {
		if v.ID == s.volume {
			there++
		}
	}
	if s.there && there != 1 || !s.there && there != 0 {
		l.t.Errorf("after %s %s is there %d times: %v", s.name, s.volume, there, all)
	}
}
