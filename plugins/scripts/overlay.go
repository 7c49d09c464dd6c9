package scripts

import (
	"embed"
	"path"
	"strings"

	"github.com/hostler/hostler/sdk/catalog"
)

//go:embed overlay
var overlayFiles embed.FS

// The folders of the overlay in a bundle. Those of overlayPrograms come first
// in PATH and replace programs of the system, such as those that download files
// or ask questions. overlayData has the files that they read.
const (
	overlayPrograms = "overlay"
	overlayData     = "overlay-data"
)

// addOverlay adds the files of the overlay to a bundle. Besides the programs
// these are two lists of addresses from which nothing is downloaded: an attempt
// to reach one in script-hosts is recorded in the sentinel, and one in
// silent-hosts is not, because only statistics are lost.
func (s state) addOverlay(b *catalog.BundleBuilder) error {
	files, err := overlayFiles.ReadDir("overlay")
	if err != nil {
		return err
	}
	for _, f := range files {
		content, err := overlayFiles.ReadFile(path.Join("overlay", f.Name()))
		if err != nil {
			return err
		}
		file := catalog.BundleFile{Path: overlayPrograms + "/" + f.Name(), Content: content, Executable: true, Class: catalog.OverlayFile}
		if strings.HasSuffix(f.Name(), ".sh") { // what the programs have in common
			file.Path, file.Executable = overlayData+"/"+f.Name(), false
		}
		b.Add(file)
	}
	b.Add(catalog.BundleFile{Path: overlayData + "/script-hosts", Class: catalog.OverlayFile, Content: []byte(s.scriptHosts())})
	b.Add(catalog.BundleFile{Path: overlayData + "/silent-hosts", Class: catalog.OverlayFile,
		Content: []byte("db.community-scripts.org\ntelemetry.community-scripts.org\n")})
	return nil
}

// scriptHosts returns the beginnings of addresses from which nothing may be
// downloaded while a bundle runs, because what is needed from there is in the
// bundle. They have no scheme and are in lower case, one per line.
func (s state) scriptHosts() string {
	var list []string
	for _, repository := range []string{"community-scripts/proxmoxve/", "community-scripts/proxmoxved/", "community-scripts/core/"} {
		list = append(list, hosts(repository)...)
	}
	for _, part := range s.pin {
		list = append(list, hosts(strings.ToLower(part.Repository)+"/")...)
	}
	list = append(list, "git.community-scripts.org/")
	return strings.Join(list, "\n") + "\n"
}

// hosts returns the addresses from which files of a repository can be
// downloaded. A script that reached one of them would run code that nobody
// approved.
func hosts(repository string) (list []string) {
	for _, host := range []string{"raw.githubusercontent.com/", "github.com/", "codeload.github.com/", "api.github.com/repos/",
		"cdn.jsdelivr.net/gh/"} {
		if host == "cdn.jsdelivr.net/gh/" {
			repository = strings.TrimSuffix(repository, "/")
		}
		list = append(list, host+repository)
	}
	return list
}
