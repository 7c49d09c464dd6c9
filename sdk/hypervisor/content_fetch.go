package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin"
)

// OperationDownload is the download of a file to a storage, templates included.
const OperationDownload Operation = "download"

// DownloadSpec is a file that the hypervisor shall fetch.
type DownloadSpec struct {
	Storage string
	// Node fetches it, for itself where the storage is not shared.
	Node string
	// Content is the hypervisor's word for what the file is, one of those of Storage.Content.
	Content  string
	Filename string
	// URL may have a secret in its query.
	URL plugin.Secret
	// Checksum is in hexadecimal digits, of the algorithm md5, sha1, sha224, sha256, sha384 or sha512; both are empty for none.
	Checksum          string
	ChecksumAlgorithm string
	// AnyCertificate takes whatever certificate the server has.
	AnyCertificate bool
}

// Template is one of those that the hypervisor's own source of templates for containers has.
type Template struct {
	// Name is what FetchTemplate wants.
	Name         string
	Title        string
	Section      string
	OS           string
	Version      string
	Architecture string
	Description  string
	Source       string
}

// TemplateSpec is a template to fetch.
type TemplateSpec struct {
	Storage string
	Node    string
	Name    string
}

// ContentFetcher is satisfied by hosts that fetch files from the network by themselves. Templates needs the Monitoring capability, all
// else Lifecycle. The methods that change something send their request once and never repeat it by themselves.
type ContentFetcher interface {
	// Download fetches a file. A name that does not fit the content is Invalid with the field "filename".
	Download(ctx context.Context, spec DownloadSpec) (taskID string, err error)
	// Templates lists those that a node can fetch. A plugin that returns more than 64 MiB gets Protocol.
	Templates(ctx context.Context, node string) ([]Template, error)
	// FetchTemplate fetches one; an unknown one is Invalid or NotFound, at once or in the task.
	FetchTemplate(ctx context.Context, spec TemplateSpec) (taskID string, err error)
}
