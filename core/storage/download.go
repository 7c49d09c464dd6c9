package storage

import (
	"context"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// These are the kinds of jobs that fetch files.
const (
	// The kinds of jobs that fetch files.
	downloadKind = "storage.download"
	templateKind = "storage.fetch_template"
)

// DownloadRequest is a file that a hypervisor downloads itself. An empty
// Filename takes the last part of the URL's path. Checksum and Algorithm are
// both set or both empty. AnyCertificate turns off the check of the server's
// certificate.
type DownloadRequest struct {
	URL, Content, Filename, Node string
	Checksum, Algorithm          string
	AnyCertificate               bool
}

// downloadParams are the parameters of such a job. The URL may contain a secret
// in its query.
type downloadParams struct {
	HostID int64                   `json:"host_id"`
	URL    secret.String           `json:"url"`
	Spec   hypervisor.DownloadSpec `json:"spec"`
}

// digits is the number of hexadecimal digits in the checksum of each algorithm.
var digits = map[string]int{"md5": 32, "sha1": 40, "sha224": 56, "sha256": 64, "sha384": 96, "sha512": 128}

// check sets defaults and returns all faults, and the URL without its query and
// fragment, which may contain secrets.
//
// Addresses of the hypervisor itself and of cloud metadata services are
// refused, because the download runs in the hypervisor's network with its
// rights.
func (o *DownloadRequest) check() (public string, faults []problem.Fault) {
	fault := func(field, msg string) {
		faults = append(faults, problem.Fault{Loc: []any{"body", field}, Msg: msg, Type: "value_error"})
	}
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "" || strings.ContainsFunc(o.URL, unicode.IsControl):
		fault("url", "must be a URL")
		return "", faults
	case u.Scheme != "http" && u.Scheme != "https":
		fault("url", "must begin with https:// or http://")
	case u.User != nil:
		fault("url", "must not contain a user and password: they would be readable in the hypervisor's log; use a URL without them")
	default: // the port is judged as well; what it is when there is none makes no difference
		if _, err := host.ParseAddress(u.Host, "443", false); err != nil {
			fault("url", "cannot download from this server: the hypervisor itself, unspecified addresses and cloud metadata services are not "+
				"allowed; write IP addresses in full, such as 192.0.2.10")
		}
	}
	if o.Filename == "" {
		o.Filename = path.Base(u.Path)
	}
	if name := o.Filename; name == "." || name == ".." || name == "/" || len(name) > 255 || !utf8.ValidString(name) ||
		strings.ContainsAny(name, `/\`) || strings.ContainsFunc(name, unicode.IsControl) {
		fault("filename", "must be a file name of at most 255 bytes, without a path; specify one if the URL has none")
	}
	switch {
	case (o.Checksum == "") != (o.Algorithm == ""):
		fault("checksum", "checksum and checksum_algorithm must be set together")
	case o.Checksum != "" && (len(o.Checksum) != digits[o.Algorithm] || strings.Trim(o.Checksum, "0123456789abcdefABCDEF") != ""):
		fault("checksum", "must be a checksum of that algorithm in hexadecimal digits")
	}
	u.User, u.RawQuery, u.Fragment, u.ForceQuery = nil, "", "", false
	return u.String(), faults
}

// Download requests that a host's hypervisor fetches a file to a storage. All
// faults are one problem invalid. Other problems: not_found,
// capability_missing, unsupported, conflict if the file exists, guest_busy
// while another job writes or deletes it, and those of host.Call.
func (s *Store) Download(ctx context.Context, hostID int64, name string, o DownloadRequest) (guest.StartResult, error) {
	public, faults := o.check()
	if len(faults) > 0 {
		return guest.StartResult{}, problem.Invalid(faults...)
	}
	p, node, err := s.fetchable(ctx, hostID, name, o.Node, o.Content)
	if err != nil {
		return guest.StartResult{}, err
	}
	if err := s.absent(ctx, &p, hypervisor.ContentQuery{Node: node, Content: o.Content}, o.Filename); err != nil {
		return guest.StartResult{}, err
	}
	asked := map[string]any{"url": public, "content": o.Content, "filename": o.Filename, "node": node, "verify_tls": !o.AnyCertificate}
	if o.Checksum != "" {
		asked["checksum"], asked["checksum_algorithm"] = o.Checksum, o.Algorithm
	}
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetName = name
		for key, value := range asked {
			e.Detail(key, value)
		}
	})
	if public == o.URL { // else it cannot be asked for again: what may be a secret is not kept
		asked["name"] = name
	}
	return s.enqueue(ctx, &p, node, o.Filename, job.Spec{
		Kind: downloadKind, PublicParams: asked,
		Params: downloadParams{HostID: hostID, URL: secret.New(o.URL), Spec: hypervisor.DownloadSpec{
			Storage: name, Node: node, Content: o.Content, Filename: o.Filename, Checksum: o.Checksum, ChecksumAlgorithm: o.Algorithm,
			AnyCertificate: o.AnyCertificate,
		}},
	})
}

// fetchable returns a storage to which files of a content can be fetched, and
// the node that fetches them.
func (s *Store) fetchable(ctx context.Context, hostID int64, name, wanted, content string) (place, string, error) {
	p, err := s.find(ctx, hostID, name)
	if err == nil {
		err = p.require()
	}
	if err != nil {
		return p, "", err
	}
	node, err := p.only(wanted)
	if err != nil {
		return p, "", err
	}
	err = s.Hosts.Require(ctx, hostID, endpoint.Lifecycle, func(at hypervisor.Host) error {
		_, err := host.AsAbility[hypervisor.ContentFetcher](at)
		return err
	})
	if err == nil && content != "" && len(p.known.Content) > 0 && !slices.Contains(p.known.Content, content) {
		err = problem.Invalid(problem.Fault{Loc: []any{"body", "content"}, Type: "enum",
			Msg: "the storage does not accept this content; it accepts " + strings.Join(p.known.Content, ", ")})
	}
	return p, node, err
}

// absent returns the problem conflict if a file exists.
func (s *Store) absent(ctx context.Context, p *place, among hypervisor.ContentQuery, filename string) error {
	there, err := s.file(ctx, p, among, filename)
	if err == nil && there {
		err = problem.New(problem.CodeConflict, "the storage already has a file %.255q", filename)
	}
	return err
}

// file reports whether a file is on a storage.
func (s *Store) file(ctx context.Context, p *place, among hypervisor.ContentQuery, filename string) (bool, error) {
	list, err := s.list(ctx, p, among)
	return slices.ContainsFunc(list.Volumes, func(v hypervisor.Volume) bool { return v.Name == filename }), err
}

// download runs a job that fetches a file.
func (s *Store) download(ctx context.Context, run *job.Run) error {
	var params downloadParams
	if err := run.Params(&params); err != nil {
		return err
	}
	spec := params.Spec
	// The query may contain a secret, and the task's log shows the whole URL.
	run.Redact(queryOf(params.URL.Reveal()))
	spec.URL = sdk.Secret(params.URL.Reveal())
	among := hypervisor.ContentQuery{Storage: spec.Storage, Node: spec.Node, Content: spec.Content}
	return s.fetched(ctx, run, params.HostID, among, spec.Filename,
		func(ctx context.Context, f hypervisor.ContentFetcher) (string, error) { return f.Download(ctx, spec) })
}

// queryOf returns the part of a URL after its path.
func queryOf(text string) string {
	_, query, _ := strings.Cut(text, "?")
	return query
}

// fetched runs a job that puts a file on a storage. At the end it checks that
// the file is there: a task that was found again after a lost answer may be
// that of another download.
func (s *Store) fetched(ctx context.Context, run *job.Run, hostID int64, among hypervisor.ContentQuery, filename string,
	send func(context.Context, hypervisor.ContentFetcher) (string, error)) error {
	p, err := s.find(ctx, hostID, among.Storage)
	if err != nil {
		return err
	}
	_, err = run.Do(ctx, job.Step{
		Name: "fetch",
		Open: func(ctx context.Context) (hypervisor.Host, error) {
			return s.Hosts.Open(ctx, hostID, endpoint.Lifecycle)
		},
		Watch: func(ctx context.Context) (hypervisor.Host, error) {
			return s.Hosts.Open(ctx, hostID, endpoint.Monitoring)
		},
		Before: func(ctx context.Context) (clock time.Time, done bool, err error) {
			there, err := s.file(ctx, &p, among, filename)
			switch {
			case err != nil:
				return time.Time{}, false, err
			case there && run.StepStarted("fetch"):
				run.Note("the file exists")
				return time.Now(), true, nil
			case there:
				return time.Time{}, false, job.Fail("the storage already has a file with this name; nothing was done")
			}
			run.Note("downloading %s to the storage %s", filename, among.Storage)
			return time.Now(), false, nil
		},
		Send: func(ctx context.Context, at hypervisor.Host) (string, error) {
			able, err := host.AsAbility[hypervisor.ContentFetcher](at)
			if err != nil {
				return "", err
			}
			return send(ctx, able)
		},
		Query:  func() hypervisor.TaskQuery { return hypervisor.TaskQuery{Node: among.Node} },
		IsOurs: func(t hypervisor.Task) bool { return t.Operation == hypervisor.OperationDownload },
		OnMissing: func(ctx context.Context, _ time.Time, reaches bool) error {
			there, err := s.file(ctx, &p, among, filename)
			if err != nil || there || reaches {
				return err
			}
			return job.Undetermined("the request was sent but its answer was lost; the file does not exist yet and may still be " +
				"downloading")
		},
	})
	if err != nil {
		return err
	}
	there, err := s.file(context.WithoutCancel(ctx), &p, among, filename)
	switch {
	case err != nil:
		run.Note("the contents of the storage could not be listed: %s", job.Explain(err))
	case !there:
		return job.Undetermined("the hypervisor's task succeeded, but the file is not on the storage")
	}
	return nil
}

// Template is a template for containers from a hypervisor's own source.
type Template struct {
	Name         string `json:"template" example:"debian-13-standard_13.1-2_amd64.tar.zst" doc:"Name; the value of template when you fetch one"`
	Title        string `json:"title" example:"Debian 13 (standard)"`
	Section      string `json:"section" example:"system"`
	OS           string `json:"os" example:"debian-13"`
	Version      string `json:"version" example:"13.1-2"`
	Architecture string `json:"architecture" example:"amd64"`
	Description  string `json:"description"`
	Present      bool   `json:"present" doc:"true if the storage has it already"`
}

// Templates returns a page of the templates that can be fetched to a storage,
// by name, and the number of all. Problems are those of Content.
func (s *Store) Templates(ctx context.Context, hostID int64, name, node, search string, offset, limit int) ([]Template, int, error) {
	p, err := s.find(ctx, hostID, name)
	if err == nil {
		err = p.require()
	}
	if err == nil {
		node, err = p.on(node)
	}
	if err != nil {
		return nil, 0, err
	}
	found, err := s.templates(ctx, hostID, node)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.list(ctx, &p, templatesOn(node))
	if err != nil {
		return nil, 0, err
	}
	there := map[string]bool{}
	for _, v := range list.Volumes {
		there[v.Name] = there[v.Name] || v.Kind == hypervisor.VolumeTemplate
	}
	all := []Template{}
	for _, t := range found {
		if search != "" && !strings.Contains(strings.ToLower(t.Name+"\x00"+t.Title), strings.ToLower(search)) {
			continue
		}
		all = append(all, Template{host.Clean(t.Name), host.Clean(t.Title), host.Clean(t.Section), host.Clean(t.OS), host.Clean(t.Version),
			host.Clean(t.Architecture), host.Clean(t.Description), there[t.Name]})
	}
	slices.SortFunc(all, func(a, b Template) int { return strings.Compare(a.Name, b.Name) })
	from := min(offset, len(all))
	return all[from:min(from+limit, len(all))], len(all), nil
}

// templates asks a node for the templates that it could download.
func (s *Store) templates(ctx context.Context, hostID int64, node string) ([]hypervisor.Template, error) {
	all, err := host.Call(ctx, s.Hosts, hostID, endpoint.Monitoring,
		func(ctx context.Context, f hypervisor.ContentFetcher) ([]hypervisor.Template, error) {
			return f.Templates(ctx, node)
		})
	return all, host.UnknownNode(err)
}

// templateParams are the parameters of a job that fetches a template.
type templateParams struct {
	HostID int64                   `json:"host_id"`
	Spec   hypervisor.TemplateSpec `json:"spec"`
}

// FetchTemplate requests that a host's hypervisor fetches a template to a
// storage. Problems are those of Download.
func (s *Store) FetchTemplate(ctx context.Context, hostID int64, name, template, wanted string) (guest.StartResult, error) {
	p, node, err := s.fetchable(ctx, hostID, name, wanted, "")
	if err != nil {
		return guest.StartResult{}, err
	}
	found, err := s.templates(ctx, hostID, node)
	if err != nil {
		return guest.StartResult{}, err
	}
	if !slices.ContainsFunc(found, func(t hypervisor.Template) bool { return t.Name == template }) {
		return guest.StartResult{}, problem.InvalidField("the node does not know this template", "enum", "body", "template")
	}
	if err := s.absent(ctx, &p, templatesOn(node), template); err != nil {
		return guest.StartResult{}, err
	}
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetName = name
		e.Detail("template", template)
		e.Detail("node", node)
	})
	return s.enqueue(ctx, &p, node, template, job.Spec{
		Kind:         templateKind,
		PublicParams: map[string]any{"name": name, "template": template, "node": node},
		Params:       templateParams{HostID: hostID, Spec: hypervisor.TemplateSpec{Storage: name, Node: node, Name: template}},
	})
}

// fetch runs a job that fetches a template.
func (s *Store) fetch(ctx context.Context, run *job.Run) error {
	var params templateParams
	if err := run.Params(&params); err != nil {
		return err
	}
	spec := params.Spec
	among := templatesOn(spec.Node)
	among.Storage = spec.Storage
	return s.fetched(ctx, run, params.HostID, among, spec.Name,
		func(ctx context.Context, f hypervisor.ContentFetcher) (string, error) {
			return f.FetchTemplate(ctx, spec)
		})
}

// templatesOn returns the query for the templates on a storage, as a node sees
// it.
func templatesOn(node string) hypervisor.ContentQuery {
	return hypervisor.ContentQuery{Node: node, Kind: hypervisor.VolumeTemplate}
}
