//go:build linux

package lxdtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// Stranger gives a target with a new certificate that the server does not know.
func (s *Server) Stranger(t testing.TB) endpoint.Target {
	t.Helper()
	credential, err := endpoint.NewClientCertificate(endpoint.Monitoring)
	if err != nil {
		t.Fatal(err)
	}
	return endpoint.Target{Address: s.Address, Fingerprint: s.Fingerprint, AllowLocal: true, Credential: credential}
}

// Trusted gives a target with a new certificate that the server trusts, in these projects only when there are any.
func (s *Server) Trusted(t testing.TB, projects ...string) endpoint.Target {
	t.Helper()
	target := s.Stranger(t)
	s.trust(t, target, map[string]any{"type": "client", "restricted": len(projects) > 0, "projects": projects})
	return target
}

// Nowhere gives a target with a new certificate that the server trusts in no project.
func (s *Server) Nowhere(t testing.TB) endpoint.Target {
	t.Helper()
	target := s.Stranger(t)
	s.trust(t, target, map[string]any{"type": "client", "restricted": true, "projects": []string{}})
	return target
}

// MetricsOnly gives a target with a new certificate that may read metrics and nothing else.
func (s *Server) MetricsOnly(t testing.TB) endpoint.Target {
	t.Helper()
	target := s.Stranger(t)
	s.trust(t, target, map[string]any{"type": "metrics"})
	return target
}

// trust adds the certificate of a target to the server's trust store. entry
// contains its restrictions. The test's name is the certificate's name.
func (s *Server) trust(t testing.TB, target endpoint.Target, entry map[string]any) {
	t.Helper()
	identity, err := lxdapi.ParseIdentity(target.Credential.Secret)
	if err != nil {
		t.Fatal(err)
	}
	entry["name"], entry["certificate"] = t.Name(), base64.StdEncoding.EncodeToString(identity.DER())
	if err := s.Do(t.Context(), http.MethodPost, "/1.0/certificates", entry, nil); err != nil {
		t.Fatal(err)
	}
}

// JoinToken makes a join token as `lxc config trust add` does, for a certificate that may act in these projects only when there
// are any.
func (s *Server) JoinToken(t testing.TB, name string, projects ...string) plugin.Secret {
	t.Helper()
	var made struct {
		Fingerprint string   `json:"fingerprint"`
		Addresses   []string `json:"addresses"`
		Secret      string   `json:"secret"`
	}
	err := s.Do(t.Context(), http.MethodPost, "/1.0/certificates", map[string]any{
		"type": "client", "name": name, "token": true, "restricted": len(projects) > 0, "projects": projects}, &made)
	if err != nil {
		t.Fatal(err)
	}
	token, err := json.Marshal(map[string]any{"client_name": name, "fingerprint": made.Fingerprint, "addresses": made.Addresses,
		"secret": made.Secret, "expires_at": time.Time{}})
	if err != nil {
		t.Fatal(err)
	}
	return plugin.Secret(base64.StdEncoding.EncodeToString(token))
}

// Project makes a project, whose containers are like those of the default one.
func (s *Server) Project(t testing.TB, name string) string {
	t.Helper()
	err := s.Do(t.Context(), http.MethodPost, "/1.0/projects", map[string]any{"name": name, "config": map[string]string{
		"features.images": "false", "features.profiles": "false", "features.networks": "false"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// Name is what the server calls itself.
func (s *Server) Name(t testing.TB) string {
	t.Helper()
	var about struct {
		Environment struct {
			Name string `json:"server_name"`
		} `json:"environment"`
	}
	if err := s.Do(t.Context(), http.MethodGet, "/1.0", nil, &about); err != nil {
		t.Fatal(err)
	}
	return about.Environment.Name
}

// Environment is what the program lxc must have in its environment to be an administrator of the server.
func (s *Server) Environment(t testing.TB) []string {
	return []string{"LXD_DIR=" + s.dir, "HOME=" + t.TempDir()}
}

// Container makes a container that is stopped, of one of the images. An empty project is the default one.
func (s *Server) Container(t testing.TB, project, name, image string) lxdapi.InstanceRef {
	t.Helper()
	if err := s.create(t, project, name, image); err != nil {
		t.Fatal(err)
	}
	return lxdapi.InstanceRef{Project: project, Name: name}
}

// Containers makes so many stopped containers of the image Tiny, named prefix-0 and so on. One takes a tenth of a second.
func (s *Server) Containers(t testing.TB, project, prefix string, count int) {
	t.Helper()
	const atOnce = 4
	failed := make(chan error, count)
	slots := make(chan struct{}, atOnce)
	for i := range count {
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			failed <- s.create(t, project, fmt.Sprintf("%s-%d", prefix, i), Tiny)
		}()
	}
	for range count {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// create starts the creation of an instance and waits for its operation.
func (s *Server) create(t testing.TB, project, name, image string) error {
	return s.Do(t.Context(), http.MethodPost, "/1.0/instances?project="+url.QueryEscape(project),
		map[string]any{"name": name, "source": map[string]string{"type": "image", "alias": image}}, nil)
}

// Listening waits until process 1 of a container that was started once listens to a request to shut down: one that comes
// before is lost.
func (s *Server) Listening(t testing.TB, ref lxdapi.InstanceRef) {
	t.Helper()
	waittest.Until(t, ref.Name+" listens", func() bool {
		_, found, err := s.file(t, ref, "/run/listening")
		return err == nil && found
	})
}

// Boots is how often process 1 of a container was started, by what it has written itself.
func (s *Server) Boots(t testing.TB, ref lxdapi.InstanceRef) (starts int) {
	t.Helper()
	// A server that was killed has the helper by which it reads files in between.
	waittest.Succeeds(t, "the starts of "+ref.Name+" can be read", func() error {
		text, _, err := s.file(t, ref, "/boots")
		starts = bytes.Count(text, []byte("\n"))
		return err
	})
	return starts
}

// helperPause is how long the helper by which LXD reads files is left alone after a failure. The one that ends removes the socket of the
// one that follows (canonical/lxd issue 18403), so LXD fails as long as it is asked again at once.
const helperPause = 15 * time.Second

// file reads a file of a container. It is not found if the container or the file is not there.
func (s *Server) file(t testing.TB, ref lxdapi.InstanceRef, path string) (text []byte, found bool, err error) {
	t.Helper()
	query := url.Values{"path": {path}, "project": {ref.Project}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"http://lxd/1.0/instances/"+url.PathEscape(ref.Name)+"/files?"+query.Encode(), nil)
	if err != nil {
		return nil, false, err
	}
	resp, err := s.admin.Do(req)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err = io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return nil, false, err
	case resp.StatusCode == http.StatusOK:
		return text, true, nil
	case resp.StatusCode == http.StatusNotFound:
		return nil, false, nil
	case bytes.Contains(text, []byte("forkfile.sock")):
		time.Sleep(helperPause)
	}
	return nil, false, fmt.Errorf("%s: %s", resp.Status, text)
}

// Certificate is the server's own, with its key: who has it can stand in the server's place.
func (s *Server) Certificate(t testing.TB) tls.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(s.dir+"/server.crt", s.dir+"/server.key")
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// act changes a container's state as an administrator: start, or stop at once.
func (s *Server) act(ctx context.Context, ref lxdapi.InstanceRef, action lxdapi.Action) error {
	path := "/1.0/instances/" + url.PathEscape(ref.Name) + "/state?project=" + url.QueryEscape(ref.Project)
	return s.Do(ctx, http.MethodPut, path, map[string]any{"action": action, "force": action == lxdapi.Stop}, nil)
}

// SetStatus brings a container into the status Running or Stopped, whatever LXD itself does with it at the time: one that was killed
// freezes what it was stopping, and starts again what ran before.
func (s *Server) SetStatus(t testing.TB, ref lxdapi.InstanceRef, status string) {
	t.Helper()
	waittest.Succeeds(t, ref.Name+" is "+status, func() error {
		action := lxdapi.Start
		switch now := s.Instance(t, ref).Status; {
		case now == status:
			return nil
		case now == "Frozen":
			action = lxdapi.Unfreeze
		case status == "Stopped":
			action = lxdapi.Stop
		}
		err := s.act(t.Context(), ref, action)
		if err != nil && action == lxdapi.Start && strings.Contains(err.Error(), "already running") {
			// A server that was killed in the middle may know a container that runs in a state which is neither.
			return errors.Join(err, s.act(t.Context(), ref, lxdapi.Stop))
		}
		if err != nil {
			return err
		}
		return errors.New("it was asked for")
	})
}

// Release stops a container at once that is asked to stop or to restart and does not follow.
func (s *Server) Release(t testing.TB, ref lxdapi.InstanceRef) {
	t.Helper()
	// A restart may have started it again when the stop looks whether it has stopped, which is then told as a failure.
	if err := s.act(t.Context(), ref, lxdapi.Stop); err != nil && !strings.Contains(err.Error(), `status is "Running"`) {
		t.Fatal(err)
	}
}

// Instance reads a container with its state and its snapshots as an administrator.
func (s *Server) Instance(t testing.TB, ref lxdapi.InstanceRef) (instance lxdapi.Instance) {
	t.Helper()
	path := "/1.0/instances/" + url.PathEscape(ref.Name) + "?recursion=1&project=" + url.QueryEscape(ref.Project)
	if err := s.Do(t.Context(), http.MethodGet, path, nil, &instance); err != nil {
		t.Fatal(err)
	}
	return instance
}
