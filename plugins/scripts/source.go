package scripts

import (
	"context"
	"crypto/x509"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/tree"
	"github.com/hostler/hostler/sdk/plugin"
)

// version is the release, set by the linker.
var version = "dev"

// The names of the options.
const (
	optionRepository = "repository"
	optionEngine     = "engine_repository"
	optionRef        = "ref"
	optionArchives   = "archives_url"
	optionAPI        = "api_url"
	optionMirror     = "mirror"
	optionProxy      = "proxy"
	optionCA         = "ca"
)

// Defaults of the options.
const (
	defaultRepository = "community-scripts/ProxmoxVE"
	defaultRef        = "main"
	defaultArchives   = "https://github.com"
	defaultAPI        = "https://api.github.com"
)

// Source is the source of the community scripts. Use New; the zero value is not
// usable.
type Source struct {
	logger hclog.Logger
	pace   pace
	// slot is held by who fetches an archive: one at a time keeps memory and the origin's patience.
	slot chan struct{}
}

var _ catalog.Source = (*Source)(nil)

// New returns the source. All its catalogs share one slot for downloads.
func New(logger hclog.Logger) *Source {
	return &Source{logger: logger, pace: usualPace, slot: make(chan struct{}, 1)}
}

// Services returns the services of the plugin program.
func Services(logger hclog.Logger) []plugin.Service {
	return []plugin.Service{catalog.Service{Source: New(logger), CatalogType: (*Catalog)(nil)}}
}

// Info implements catalog.Source.
func (*Source) Info(context.Context) (catalog.Info, error) {
	return catalog.Info{
		Name: "scripts", Version: version, Title: "Community scripts",
		Trust: "Anyone who can write to the repository of the community scripts decides what runs as root on your nodes, once someone " +
			"here has approved exactly these files. The files download further programs from many vendors, which no checksum covers.",
		Options: []catalog.Option{
			{Key: optionRepository, Type: catalog.Line, Default: defaultRepository, Description: "The repository, as owner/name."},
			{Key: optionEngine, Type: catalog.Line, Default: "none", Description: "A second repository with the engine, as owner/name."},
			{Key: optionRef, Type: catalog.Line, Default: defaultRef,
				Description: "The branch, tag or commit to follow. Both repositories must have it, unless you enter one commit for " +
					"each, separated by a space."},
			{Key: optionArchives, Type: catalog.URL, Default: defaultArchives,
				Description: "The base URL for /owner/name/archive/COMMIT.tar.gz."},
			{Key: optionAPI, Type: catalog.URL, Default: defaultAPI,
				Description: "The base URL of the API, where /repos/owner/name/commits/REF returns the commit of a branch or tag."},
			{Key: optionMirror, Type: catalog.Folder, Default: "none",
				Description: "A folder with owner/name/COMMIT.tar.gz and owner/name/REF, a file that contains a commit. If set, nothing " +
					"is downloaded."},
			{Key: optionProxy, Type: catalog.URL, Secret: true, Default: "none", Description: "The proxy for all requests."},
			{Key: optionCA, Type: catalog.Text, Default: "the system's",
				Description: "Certificates of additional trusted authorities, in PEM."},
		},
	}, nil
}

var (
	repositoryForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)
	refForm        = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$`)
	commitForm     = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
)

// invalid is the refusal of an option; the page shows it at the field.
func invalid(field, format string, args ...any) *plugin.Error {
	e := plugin.Errorf(plugin.Invalid, format, args...)
	e.Field = field
	return e
}

// Open implements catalog.Source. It checks all options and uses no network.
// The repositories have the form owner/name; a ref is a branch, a tag or a
// commit, of which several may be given, separated by spaces.
func (s *Source) Open(ctx context.Context, config catalog.Config) (catalog.Catalog, error) {
	info, err := s.Info(ctx)
	if err != nil {
		return nil, err
	}
	for key, value := range config.Options {
		i := slices.IndexFunc(info.Options, func(o catalog.Option) bool { return o.Key == key })
		if i < 0 {
			return nil, invalid(key, "unknown option")
		}
		if !catalog.CheckOption(info.Options[i], value) {
			return nil, invalid(key, "the value does not match the type of the option")
		}
	}
	c := &Catalog{logger: s.logger, slot: s.slot, ref: option(config, optionRef, defaultRef)}
	main, engine := option(config, optionRepository, defaultRepository), option(config, optionEngine, "")
	if !repositoryForm.MatchString(main) {
		return nil, invalid(optionRepository, "it must have the form owner/name")
	}
	if engine != "" && (!repositoryForm.MatchString(engine) || strings.EqualFold(engine, main)) {
		return nil, invalid(optionEngine, "it must have the form owner/name and differ from the first repository")
	}
	c.repository, c.engine = main, engine
	for ref := range strings.SplitSeq(c.ref, " ") {
		if !refForm.MatchString(ref) || strings.Contains(ref, "..") || strings.Contains(ref, "//") {
			return nil, invalid(optionRef, "it is not a branch, tag or commit")
		}
	}
	if err := s.origin(c, config); err != nil {
		return nil, err
	}
	if err := c.openCache(config.Cache); err != nil {
		return nil, err
	}
	return c, nil
}

// origin configures where archives come from: a local folder with a mirror, or
// HTTP. The base URLs may not contain a user, a query or a fragment. The proxy
// of the environment is not used, only the one of the options. A CA of the
// options is added to the system's authorities.
func (s *Source) origin(c *Catalog, config catalog.Config) error {
	if folder := config.Options[optionMirror]; folder != "" {
		c.origin = mirror{folder: folder}
		return nil
	}
	fetch := &fetcher{pace: s.pace, logger: s.logger}
	for key, to := range map[string]*string{optionArchives: &fetch.archives, optionAPI: &fetch.api} {
		*to = strings.TrimRight(option(config, key, map[string]string{optionArchives: defaultArchives, optionAPI: defaultAPI}[key]), "/")
		if u, err := url.Parse(*to); err != nil || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			return invalid(key, "it must be the beginning of a URL, without a query and without a user")
		}
	}
	var proxy *url.URL
	if value := config.Options[optionProxy]; value != "" {
		u, err := url.Parse(value)
		if err != nil || u.Path != "" && u.Path != "/" {
			return invalid(optionProxy, "it is not the URL of a proxy")
		}
		proxy = u
	}
	var roots *x509.CertPool
	if value := config.Options[optionCA]; value != "" {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM([]byte(value)) {
			return invalid(optionCA, "it does not contain a certificate")
		}
		roots = pool
	}
	fetch.client = newClient(config, s.pace, proxy, roots)
	c.origin = fetch
	return nil
}

// option gives an option, or its usual value.
func option(config catalog.Config, key, otherwise string) string {
	if value := config.Options[key]; value != "" {
		return value
	}
	return otherwise
}

// openCache takes the folder that was given, or one for this catalog alone.
func (c *Catalog) openCache(folder string) error {
	if folder == "" {
		temporary, err := os.MkdirTemp("", "hostler-scripts-")
		if err != nil {
			return plugin.Errorf(plugin.Internal, "no cache folder is configured, and creating a temporary folder failed").WithCause(err)
		}
		folder, c.temporary = temporary, temporary
	}
	c.folder = folder
	c.cache = tree.NewCache(filepath.Join(folder, "commits"), treeLimits)
	return nil
}
