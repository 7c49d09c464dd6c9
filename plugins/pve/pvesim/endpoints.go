package pvesim

import "slices"

// endpoints lists all of the API that is simulated, by subject. Each function stands in the file that is named after its subject.
func endpoints() []*endpoint {
	return slices.Concat(
		indexEndpoints(), versionEndpoints(),
		ticketEndpoints(), userEndpoints(), tokenEndpoints(), groupEndpoints(), roleEndpoints(), aclEndpoints(), permissionEndpoints(),
		clusterEndpoints(), metricEndpoints(),
		nodeEndpoints(), nodeHardwareEndpoints(), taskEndpoints(),
		guestEndpoints(), configEndpoints(), resizeEndpoints(), interfaceEndpoints(), lifecycleEndpoints(), snapshotEndpoints(),
		createEndpoints(), containerEndpoints(), cloneEndpoints(), migrateEndpoints(), destroyEndpoints(), backupEndpoints(),
		storageEndpoints(), storageDefinitionEndpoints(), storageDownloadEndpoints(), uploadEndpoints(), networkEndpoints(),
		firewallRuleEndpoints(), firewallAliasEndpoints(), firewallIPSetEndpoints(), firewallGroupEndpoints(), firewallOptionEndpoints(),
		firewallReferenceEndpoints(), firewallLogEndpoints(), consoleEndpoints(),
	)
}

var (
	apiEndpoints = endpoints()
	api          = newRouter(apiEndpoints)
)

// EndpointInfo describes one simulated method of the API, for tests that go through all of them.
type EndpointInfo struct {
	Method     string
	Path       string   // template
	Parameters []string // those in the path included
	Daemon     bool     // the real server hands it to its privileged daemon
	OnNode     bool     // it is passed on to the node that the path names
}

// Endpoints lists everything that is simulated.
func Endpoints() []EndpointInfo {
	var out []EndpointInfo
	for _, e := range apiEndpoints {
		facts := e.facts()
		info := EndpointInfo{Method: e.method, Path: e.path, Daemon: facts.Daemon, OnNode: facts.OnNode}
		for _, p := range facts.Parameters() {
			info.Parameters = append(info.Parameters, p.Name)
		}
		out = append(out, info)
	}
	return out
}
