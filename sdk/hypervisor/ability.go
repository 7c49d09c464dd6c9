package hypervisor

import (
	"github.com/hostler/hostler/sdk/plugin"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	"google.golang.org/grpc"
)

// abilities lists the optional interfaces of hypervisor plugins. A new ability
// needs an interface, a gRPC service and an entry here. The name is part of the
// wire contract and must not change.
var abilities = plugin.Abilities[*server]{
	of[LifecycleManager]("lifecycle", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterLifecycleServiceServer(r, &lifecycleServer{server: s})
	}),
	of[TaskStopper]("task_stop", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterTaskStopServiceServer(r, &taskStopServer{server: s})
	}),
	of[NodeReader]("node_read", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterNodeReadServiceServer(r, &nodeReadServer{server: s})
	}),
	of[PeerLister]("peer_list", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterPeerListServiceServer(r, &peerListServer{server: s})
	}),
	of[MemberReader]("member_read", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterMemberReadServiceServer(r, &memberReadServer{server: s})
	}),
	of[NodePowerManager]("node_power", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterNodePowerServiceServer(r, &nodePowerServer{server: s})
	}),
	of[HardwareReader]("hardware_read", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterHardwareReadServiceServer(r, &hardwareReadServer{server: s})
	}),
	of[Snapshotter]("snapshot", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterSnapshotServiceServer(r, &snapshotServer{server: s})
	}),
	of[Provisioner]("provision", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterProvisionServiceServer(r, &provisionServer{server: s})
	}),
	of[Cloner]("clone", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterCloneServiceServer(r, &cloneServer{server: s})
	}),
	of[CreationChecker]("creation_check", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterCreationCheckServiceServer(r, &creationCheckServer{server: s})
	}),
	of[ConfigReader]("config_read", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterConfigReadServiceServer(r, &configReadServer{server: s})
	}),
	of[ConfigEditor]("reconfigure", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterReconfigureServiceServer(r, &reconfigureServer{server: s})
	}),
	of[DiskAdder]("disk_add", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterDiskAddServiceServer(r, &diskAddServer{server: s})
	}),
	of[DriveChanger]("drive_change", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterDriveChangeServiceServer(r, &driveChangeServer{server: s})
	}),
	of[NICEditor]("nic_edit", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterNICEditServiceServer(r, &nicEditServer{server: s})
	}),
	of[NICAdder]("nic_add", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterNICAddServiceServer(r, &nicAddServer{server: s})
	}),
	of[BackupManager]("backup", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterBackupServiceServer(r, &backupServer{server: s})
	}),
	of[BackupReader]("backup_read", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterBackupReadServiceServer(r, &backupReadServer{server: s})
	}),
	of[BackupFileLocator]("backup_file", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterBackupFileServiceServer(r, &backupFileServer{server: s})
	}),
	of[Migrator]("migrate", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterMigrateServiceServer(r, &migrateServer{server: s})
	}),
	of[ContentLister]("content_list", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterContentListServiceServer(r, &contentListServer{server: s})
	}),
	of[VolumeDeleter]("volume_delete", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterVolumeDeleteServiceServer(r, &volumeDeleteServer{server: s})
	}),
	of[StorageManager]("storage_manage", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterStorageManageServiceServer(r, &storageManageServer{server: s})
	}),
	of[ContentFetcher]("content_fetch", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterContentFetchServiceServer(r, &contentFetchServer{server: s})
	}),
	of[NetworkManager]("network_manage", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterNetworkManageServiceServer(r, &networkManageServer{server: s})
	}),
	of[Uploader]("upload", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterUploadServiceServer(r, &uploadServer{server: s})
	}),
	of[ConsoleOpener]("console", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterConsoleServiceServer(r, &consoleServer{server: s})
	}),
	of[NodeExecutor]("node_execute", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterNodeExecuteServiceServer(r, &nodeExecuteServer{server: s})
	}),
	of[GuestExecutor]("guest_execute", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterGuestExecuteServiceServer(r, &guestExecuteServer{server: s})
	}),
	of[SocketLister]("socket_list", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterSocketListServiceServer(r, &socketListServer{server: s})
	}),
	ofDriver[RoleScriptWriter]("role_script", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterRoleScriptServiceServer(r, &roleScriptServer{scripter: s.service.Driver.(RoleScriptWriter)})
	}),
	ofDriver[RoleOutputReader]("role_output", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterRoleOutputServiceServer(r, &roleOutputServer{reader: s.service.Driver.(RoleOutputReader)})
	}),
	ofDriver[CertificateReader]("certificate_read", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterCertificateReadServiceServer(r, &certificateReadServer{reader: s.service.Driver.(CertificateReader)})
	}),
	ofDriver[CredentialReader]("credential_read", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterCredentialReadServiceServer(r, &credentialReadServer{reader: s.service.Driver.(CredentialReader)})
	}),
	ofDriver[Enroller]("enrol", func(r grpc.ServiceRegistrar, s *server) {
		hypervisorv1.RegisterEnrolServiceServer(r, &enrolServer{enroller: s.service.Driver.(Enroller)})
	}),
}

// of declares an ability that the host type implements.
func of[Optional any](name string, register func(grpc.ServiceRegistrar, *server)) plugin.Ability[*server] {
	return plugin.AbilityOf[Optional](name, func(s *server) any { return s.service.HostType }, register)
}

// ofDriver declares an ability that the driver implements.
func ofDriver[Optional any](name string, register func(grpc.ServiceRegistrar, *server)) plugin.Ability[*server] {
	return plugin.AbilityOf[Optional](name, func(s *server) any { return s.service.Driver }, register)
}

// As returns v, a Host or a Driver, as one of the optional interfaces, and true if
// it has that ability. It works for a driver in the same process and for one behind
// a plugin:
//
//	if l, ok := hypervisor.As[hypervisor.LifecycleManager](host); ok {
//		taskID, err = l.Act(ctx, ref, hypervisor.Start)
//	}
//
// Use As instead of a type assertion: a Client implements all interfaces, but its
// plugin may not. RoleScriptWriter, RoleOutputReader, CertificateReader,
// CredentialReader and Enroller are abilities of the driver, all others of the
// host.
func As[Optional any](v any) (Optional, bool) { return plugin.As[Optional](abilities, v) }

// AbilityName returns the name of the ability of an optional interface:
// AbilityName[LifecycleManager]() is "lifecycle". The name appears in Info.Abilities and
// in the service's API.
func AbilityName[Optional any]() string { return plugin.NameOf[Optional](abilities) }

// Abilities returns the names of the optional interfaces that a driver and its host
// type implement. The host may be a typed nil, because no method of it is called.
func Abilities(driver Driver, host Host) []string {
	return abilities.Names(&server{service: Service{Driver: driver, HostType: host}})
}
