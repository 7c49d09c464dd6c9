// Package storagetest has valid requests about storages. The tests over all
// operations of the API send them; see package requesttest.
package storagetest

import (
	"fmt"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

const (
	// share is a storage of the laboratory, and image a file on it.
	share = requesttest.Canary
	image = requesttest.Canary + ".iso"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		put(f, share)
		return map[string]string{"name": share, "volid": f.Lab.AddVolume(share, volume(image))}
	},
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		gone := put(f, share+"-gone")
		deleted := f.Lab.AddVolume(share, volume("deleted.iso"))
		return []requesttest.Change{
			{Operation: "attach_storage",
				Body: fmt.Sprintf(`{"host_id":%d,"storage":"zqcanary-new","type":"share","config":{"server":"nas"}}`, f.Host)},
			{Operation: "edit_storage", Body: `{"config":{"comment":"changed"}}`, Nulls: `{"config":{"comment":"changed"},"digest":"none"}`},
			{Operation: "detach_storage", Path: map[string]string{"name": gone}, Body: fmt.Sprintf(`{"confirm":%q}`, gone)},
			{Operation: "delete_storage_volume", Path: map[string]string{"volid": deleted}, Body: `{"confirm":"deleted.iso"}`},
			{Operation: "download_storage_content", Body: `{"url":"https://files.example.com/new.iso","content":"iso"}`},
			{Operation: "fetch_storage_template", Body: `{"template":"tiny-1.tar"}`},
		}
	},
}

func volume(name string) hypervisor.Volume {
	size := int64(1 << 20)
	return hypervisor.Volume{Name: name, Kind: hypervisor.VolumeImage, Content: "iso", Format: "iso", SizeBytes: &size}
}

// put gives the laboratory a storage that the service knows of.
func put(f *requesttest.Fixture, name string) string {
	f.Lab.AddStorage(memdriver.StorageSpec{Name: name, Type: "share", Content: []string{"images", "iso", "templates"}})
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/sync", f.Host), "", 200)
	return name
}
