package lxd

import (
	"context"
	"errors"
	"strings"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// The server's words for what certificates may do.
const (
	// clientType is what a certificate of the type metrics lacks: it may read
	// metrics and nothing else.
	clientType = "certificate of the type client"
	// anyProject is what a restricted certificate without projects lacks.
	anyProject = "a project"
	// unrestricted is the extra right of a certificate that may do everything.
	// No capability needs it.
	unrestricted = "unrestricted certificate"
)

// about reads what the server is. GET /1.0 answers every caller, so a
// certificate that the server does not know is found here and reported as
// TokenRejected.
func (h *Host) about(ctx context.Context) (*lxdapi.Server, lxdapi.Meta, error) {
	server, meta, err := h.api.Server(ctx)
	if err == nil && !server.Trusted() {
		err = plugin.Errorf(plugin.TokenRejected, "the host does not know this certificate, or the certificate has expired")
	}
	if err == nil && server.Environment.Name == "" {
		err = plugin.Errorf(plugin.Protocol, "the host does not report its name")
	}
	if err != nil {
		return nil, lxdapi.Meta{}, h.judge(ctx, err, "")
	}
	return server, meta, nil
}

// judge adds to a refusal what the certificate lacks. project is the project of
// the request, or empty for a request outside of projects. Errors without a
// connection to rights are returned unchanged.
func (h *Host) judge(ctx context.Context, err error, project string) error {
	e, ok := asError(err)
	switch {
	case !ok:
		return err
	case e.Kind == plugin.TokenRejected && h.onlyMetrics(ctx):
		return lacks(clientType, "/", "the certificate may only read metrics")
	case e.Kind == plugin.Denied && len(e.Missing) == 0 && ofTheCertificate(e.Message):
		if project == "" {
			return lacks(unrestricted, "/", e.Message)
		}
		return lacks("project "+project, projectPath(project), e.Message)
	}
	return err
}

// ofTheCertificate reports whether a refusal is about the caller and not about
// what a project forbids to everybody. LXD uses the same status for both, so
// its texts are compared.
func ofTheCertificate(text string) bool {
	text = strings.ToLower(text)
	for _, part := range []string{"not authorized", "not have permission", "certificate is restricted", "forbidden: "} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// onlyMetrics reports whether a certificate that is not trusted is one for
// metrics. A server can show metrics to everybody, which says nothing about the
// certificate, so it asks a second time without one.
func (h *Host) onlyMetrics(ctx context.Context) bool {
	if may, err := h.api.MayReadMetrics(ctx); err != nil || !may {
		return false
	}
	nobody := h.target
	nobody.Credential = endpoint.Credential{}
	api, err := h.pool.NewClient(nobody)
	if err != nil {
		return false
	}
	may, err := api.MayReadMetrics(ctx)
	return err == nil && !may
}

// lacks returns a Denied error that names the missing privilege and the path.
func lacks(privilege, path, message string) error {
	e := plugin.Errorf(plugin.Denied, "%s", message)
	e.Missing, e.Path = []string{privilege}, path
	return e
}

// projectPath returns the path of a project, in the form that Info describes.
func projectPath(project string) string { return "/project/" + project }

// asError returns the plugin.Error in err.
func asError(err error) (*plugin.Error, bool) {
	var e *plugin.Error
	ok := errors.As(err, &e)
	return e, ok
}
