package hypervisor

import (
	"testing"

	"github.com/hostler/hostler/sdk/plugin/plugintest"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

// TestNothingIsLostOnTheWire holds every pair of conversions. A new pair is a new line.
func TestNothingIsLostOnTheWire(t *testing.T) {
	t.Parallel()
	plugintest.RoundTrip(t, infoToProto, infoFromProto)
	plugintest.RoundTrip(t, codeToProto, codeFromProto)
	plugintest.RoundTrip(t, versionToProto, versionFromProto)
	plugintest.RoundTrip(t, permissionsToProto, permissionsFromProto)
	plugintest.RoundTrip(t, byPointer(nodeToProto), nodeFromProto)
	plugintest.RoundTrip(t, byPointer(guestToProto), guestFromProto)
	plugintest.RoundTrip(t, byPointer(storageToProto), storageFromProto)
	plugintest.RoundTrip(t, refToProto, refFromProto)
	plugintest.RoundTrip(t, clusterToProto, clusterFromProto)
	plugintest.RoundTrip(t, byPointer(nodeStatusToProto), nodeStatusFromProto)
	plugintest.RoundTrip(t, membershipToProto, membershipFromProto)
	plugintest.RoundTrip(t, memberToProto, memberFromProto)
	plugintest.RoundTrip(t, peerToProto, peerFromProto)
	plugintest.RoundTrip(t, hardwareQueryToProto, hardwareQueryFromProto, "target")
	plugintest.RoundTrip(t, byPointer(nodeHardwareToProto), nodeHardwareFromProto)
	plugintest.RoundTrip(t, taskToProto, taskFromProto)
	plugintest.RoundTrip(t, taskQueryToProto, taskQueryFromProto, "target")
	plugintest.RoundTrip(t, resultToProto, resultFromProto)
	plugintest.RoundTrip(t, snapshotToProto, snapshotFromProto)
	plugintest.RoundTrip(t, snapshotSpecToProto, snapshotSpecFromProto, "target", "guest")
	plugintest.RoundTrip(t, rollbackSpecToProto, rollbackSpecFromProto, "target", "guest")
	plugintest.RoundTrip(t, placementToProto, placementFromProto)
	plugintest.RoundTrip(t, vmSpecToProto, vmSpecFromProto)
	plugintest.RoundTrip(t, cloneSpecToProto, cloneSpecFromProto, "target", "guest")
	plugintest.RoundTrip(t, configToProto, configFromProto)
	plugintest.RoundTrip(t, optionKeyToProto, optionKeyFromProto)
	plugintest.RoundTrip(t, changeToProto, changeFromProto)
	plugintest.RoundTrip(t, growthToProto, growthFromProto, "target", "guest")
	plugintest.RoundTrip(t, nicToProto, nicFromProto)
	plugintest.RoundTrip(t, addressesToProto, addressesFromProto)
	plugintest.RoundTrip(t, nicChangeToProto, nicChangeFromProto, "target", "guest", "key")
	plugintest.RoundTrip(t, backupToProto, backupFromProto)
	plugintest.RoundTrip(t, backupSpecToProto, backupSpecFromProto, "target", "guest")
	plugintest.RoundTrip(t, restoreSpecToProto, restoreSpecFromProto, "target")
	plugintest.RoundTrip(t, migrationQueryToProto, migrationQueryFromProto, "target", "guest")
	plugintest.RoundTrip(t, migrationSpecToProto, migrationSpecFromProto, "target", "guest")
	plugintest.RoundTrip(t, migrationCheckToProto, migrationCheckFromProto)
	plugintest.RoundTrip(t, volumeToProto, volumeFromProto)
	plugintest.RoundTrip(t, storageTypeToProto, storageTypeFromProto)
	plugintest.RoundTrip(t, definitionToProto, definitionFromProto)
	plugintest.RoundTrip(t, storageSpecToProto, storageSpecFromProto, "target")
	plugintest.RoundTrip(t, storageChangeToProto, storageChangeFromProto, "target")
	plugintest.RoundTrip(t, nodeNetworkToProto, nodeNetworkFromProto)
	plugintest.RoundTrip(t, interfaceChangeToProto, interfaceChangeFromProto, "target")
	plugintest.RoundTrip(t, downloadToProto, downloadFromProto, "target")
	plugintest.RoundTrip(t, templateToProto, templateFromProto)
	plugintest.RoundTrip(t, templateSpecToProto, templateSpecFromProto, "target")
	plugintest.RoundTrip(t, uploadSpecToProto, uploadSpecFromProto)
	plugintest.RoundTrip(t, uploadCheckToProto, uploadCheckFromProto)
	plugintest.RoundTrip(t, scriptQueryToProto, scriptQueryFromProto)
	plugintest.RoundTrip(t, roleOutputToProto, roleOutputFromProto)
	plugintest.RoundTrip(t, certificateToProto, certificateFromProto)
	plugintest.RoundTrip(t, func(l LogLine) *hypervisorv1.LogLine { return linesToProto([]LogLine{l})[0] }, lineFromProto)
}

func byPointer[T, M any](to func(*T) M) func(T) M { return func(v T) M { return to(&v) } }
