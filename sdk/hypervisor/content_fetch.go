package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin"
)

// OperationDownload is the operation of downloading a file or a container template
// to a storage.
const OperationDownload Operation = "download"

// DownloadSpec describes a file that the hypervisor downloads by itself.
type DownloadSpec struct {
	// Storage is the name of the storage that receives the file.
	Storage string
	// Node performs the download. If the storage is not shared, only this node has
	// the file afterwards.
	Node string
	// Content is the hypervisor's word for the kind of file, one of those in
	// Storage.Content.
	Content string
	// Filename is the name of the file on the storage, without a path.
	Filename string
	// URL is the source, http or https. It is a secret because its query may
	// contain a token.
	URL plugin.Secret
	// Checksum is in hexadecimal digits. ChecksumAlgorithm is md5, sha1, sha224,
	// sha256, sha384 or sha512. Both are empty if the download is not checked.
	Checksum          string
	ChecksumAlgorithm string
	// AnyCertificate disables the check of the server's TLS certificate.
	AnyCertificate bool
}

// Template is a container template in the hypervisor's own catalog.
type Template struct {
	// Name identifies the template for FetchTemplate. The other fields are for
	// people, in the words of the catalog.
	Name         string
	Title        string
	Section      string
	OS           string
	Version      string
	Architecture string
	Description  string
	Source       string
}

// TemplateSpec describes a container template to download.
type TemplateSpec struct {
	Storage string
	Node    string
	Name    string
}

// ContentFetcher is implemented by hosts that download files from the network.
// Templates needs the Monitoring capability, the other methods need Lifecycle. The
// methods that change something send their request once and never repeat it.
type ContentFetcher interface {
	// Download starts the download of a file. A name that does not fit the content
	// is Invalid with the field "filename".
	Download(ctx context.Context, spec DownloadSpec) (taskID string, err error)
	// Templates lists the templates that a node can download. A plugin whose list
	// exceeds 64 MiB gets Protocol.
	Templates(ctx context.Context, node string) ([]Template, error)
	// FetchTemplate starts the download of a template. An unknown one is Invalid or
	// NotFound, at once or in the task.
	FetchTemplate(ctx context.Context, spec TemplateSpec) (taskID string, err error)
}
