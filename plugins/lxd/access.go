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
	// clientType is what a certificate that may read metrics and nothing else lacks.
	clientType = "certificate of the type client"
	// anyProject is what a restricted certificate without projects lacks.
	anyProject = "a project"
	// unrestricted is what a certificate has that may do everything: no capability needs that.
	unrestricted = "unrestricted certificate"
)

// about asks the server what it is. A certificate that it does not know is TokenRejected.
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

// judge says of a refusal what the certificate lacks. The project is that of what was asked for; empty for what is in none.
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

// ofTheCertificate tells a refusal for who asks from one for what a project forbids to everybody.
func ofTheCertificate(text string) bool {
	text = strings.ToLower(text)
	for _, part := range []string{"not authorized", "not have permission", "certificate is restricted", "forbidden: "} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// onlyMetrics reports whether a certificate that is not trusted is one for metrics. A server that shows them to everybody does not
// tell.
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

// projectPath is the scope that a project is, as Info shows one.
func projectPath(project string) string { return "/project/" + project }

// asError returns the plugin.Error in err.
func asError(err error) (*plugin.Error, bool) {
	var e *plugin.Error
	ok := errors.As(err, &e)
	return e, ok
}
