package scripts

import (
	"embed"
	"path"
	"strings"

	"github.com/hostler/hostler/sdk/catalog"
)

//go:embed overlay
var overlayFiles embed.FS

// The folders of the overlay: programs that come first in PATH, and what they read.
const (
	overlayPrograms = "overlay"
	overlayData     = "overlay-data"
)

// addOverlay adds the files that are ours to a bundle.
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

// scriptHosts are the beginnings of addresses, without their scheme and in
// small letters, from which nothing may be fetched while a bundle runs: what is
// needed of them is in it.
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

// hosts lists the addresses under which scripts fetch further files of a
// repository. Each of them must lead to the pinned copy, or a script would run
// code that nobody pinned.
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
