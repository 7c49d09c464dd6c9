package catalog

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/hostler/hostler/core/outbound"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// maxRedirects is how many redirects are followed.
const maxRedirects = 2

// downloader fetches pictures from https addresses. It keeps the connections to
// each server; the caller closes it.
type downloader struct {
	*Store
	mu      sync.Mutex
	clients map[string]*http.Client
}

// close closes the connections of all clients.
func (d *downloader) close() {
	for _, client := range d.clients {
		client.CloseIdleConnections()
	}
}

// client returns the client for a server.
func (d *downloader) client(target outbound.Target) (*http.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if client := d.clients[target.Address]; client != nil {
		return client, nil
	}
	client, err := target.Client(d.IconTime)
	if err != nil {
		return nil, err
	}
	if transport, ok := client.Transport.(*http.Transport); ok && d.Authorities != nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: d.Authorities}
	}
	d.clients[target.Address] = client
	return client, nil
}

// download fetches a picture. It connects only to public addresses, whatever
// the name resolves to, and checks each redirect again.
func (d *downloader) download(ctx context.Context, ref reference) (sdk.Icon, error) {
	address := ref.text
	for range maxRedirects + 1 {
		u, target, err := d.iconTarget(address)
		if err != nil {
			return sdk.Icon{}, err
		}
		icon, next, err := d.get(ctx, u, target, ref.etag)
		if err != nil || next == "" {
			return icon, err
		}
		address = next
	}
	return sdk.Icon{}, plugin.Errorf(plugin.Refused, "the server redirects more than %d times", maxRedirects)
}

// iconTarget checks the address of a picture. It comes from a catalog, so
// private addresses must not be reachable through it.
func (s *Store) iconTarget(address string) (*url.URL, outbound.Target, error) {
	rules := outbound.Rules{AllowLocal: s.AllowLocal}
	u, dialled, err := rules.ParseURL(address)
	if err != nil {
		return nil, outbound.Target{}, plugin.Errorf(plugin.Forbidden, "the address of the icon %w", err)
	}
	if u.Scheme != "https" {
		return nil, outbound.Target{}, plugin.Errorf(plugin.Forbidden, "icons are only downloaded over https")
	}
	return u, outbound.Target{Rules: rules, Address: dialled}, nil
}

// get makes one request. It returns the new address for a redirect.
func (d *downloader) get(ctx context.Context, u *url.URL, target outbound.Target, etag string) (icon sdk.Icon, next string, err error) {
	client, err := d.client(target)
	if err != nil {
		return icon, "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return icon, "", plugin.Errorf(plugin.Invalid, "the address of the icon is not valid")
	}
	request.Header.Set("Accept", "image/webp,image/png,image/jpeg")
	request.Header.Set("User-Agent", "hostler")
	if etag != "" {
		request.Header.Set("If-None-Match", etag)
	}
	answer, err := client.Do(request)
	if err != nil {
		return icon, "", plugin.Errorf(plugin.Unreachable, "cannot download the icon: %w", outbound.Cause(err))
	}
	defer func() { _ = answer.Body.Close() }() // nothing more is read
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotModified:
		return sdk.Icon{ETag: etag, Unchanged: true}, "", nil
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		to, err := answer.Location()
		if err != nil {
			return icon, "", plugin.Errorf(plugin.Protocol, "the server redirects without an address")
		}
		return icon, to.String(), nil
	default:
		return icon, "", plugin.Errorf(plugin.Refused, "the icon's server answered %d", answer.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, sdk.MaxIcon+1))
	if err != nil {
		return icon, "", plugin.Errorf(plugin.Unreachable, "the icon was truncated: %w", outbound.Cause(err))
	}
	if len(data) > sdk.MaxIcon {
		return icon, "", tooLarge()
	}
	return sdk.Icon{Data: data, ETag: answer.Header.Get("ETag")}, "", nil
}
