package problem

import "net/http"

// Code is the machine identifier of a problem: the top-level member "error" of the answer.
type Code string

// The codes. Names that the specification gives are kept letter for letter.
const (
	CodeUnauthenticated     Code = "unauthenticated"
	CodeInvalidCredentials  Code = "invalid_credentials"
	CodeForbidden           Code = "forbidden"
	CodeCrossOrigin         Code = "cross_origin"
	CodeEntitlementRequired Code = "entitlement_required"
	CodeMalformed           Code = "malformed"
	CodeInvalid             Code = "invalid"
	CodeNotFound            Code = "not_found"
	CodeMethodNotAllowed    Code = "method_not_allowed"
	CodeTooLarge            Code = "too_large"
	CodeUnsupportedMedia    Code = "unsupported_media_type"
	CodeRateLimited         Code = "rate_limited"
	CodeConflict            Code = "conflict"
	CodeConfirmRequired     Code = "confirm_required"
	CodeSelfTarget          Code = "self_target"
	CodePlanStale           Code = "plan_stale"
	CodeHostHasApps         Code = "host_has_apps"
	CodeCapabilityMissing   Code = "capability_missing"
	CodeCapabilityRequired  Code = "capability_required"
	CodeAlreadySetUp        Code = "already_set_up"
	CodeGuestBusy           Code = "guest_busy"
	CodeGuestRunning        Code = "guest_running"
	CodeProtected           Code = "protected"
	CodeVolumeInUse         Code = "volume_in_use"
	CodeVolumesNotInBackup  Code = "volumes_not_in_backup"
	CodeBridgeInUse         Code = "bridge_in_use"
	CodeInUse               Code = "in_use"
	CodeFirewallBusy        Code = "firewall_busy"
	CodeTicketInvalid       Code = "ticket_invalid"
	CodeShellDisabled       Code = "node_shell_disabled"
	CodeConsoleUnavailable  Code = "console_unavailable"
	CodeConsentRequired     Code = "consent_required"
	CodeSSHNotEnrolled      Code = "ssh_not_enrolled"
	CodeSSHHostKeyChanged   Code = "ssh_host_key_changed"
	CodeCatalogSourceError  Code = "catalog_source_error"

	CodeLinkedCloneNeedsTemplate Code = "linked_clone_needs_template"
	CodeMigrationBlocked         Code = "migration_blocked"
	CodeDigestConflict           Code = "digest_conflict"
	CodeVMAddressing             Code = "vm_addressing_not_editable"

	CodeInvalidState        Code = "invalid_state"
	CodeFileExists          Code = "file_exists"
	CodeNoRoom              Code = "insufficient_storage"
	CodeJobFinished         Code = "job_finished"
	CodeRequestInProgress   Code = "request_in_progress"
	CodeAlreadyAdopted      Code = "already_adopted"
	CodeAlreadyEnrolled     Code = "already_enrolled"
	CodeSelfDeactivate      Code = "self_deactivate"
	CodeSelfDelete          Code = "self_delete"
	CodeLastOwner           Code = "last_owner"
	CodeTokenRejected       Code = "token_rejected"
	CodeHypervisorError     Code = "hypervisor_error"
	CodePluginUnavailable   Code = "plugin_unavailable"
	CodeReleaseSourceError  Code = "release_source_error"
	CodeUpdateNotRequested  Code = "update_not_requested"
	CodeUnsupported         Code = "unsupported"
	CodeUnsupportedAtScope  Code = "unsupported_at_scope"
	CodeTimeout             Code = "timeout"
	CodeRequestTimeout      Code = "request_timeout"
	CodeCanceled            Code = "canceled"
	CodeStopping            Code = "stopping"
	CodeDatabaseUnavailable Code = "database_unavailable"
	CodeKeyOutdated         Code = "key_outdated"
	CodeDatabaseFull        Code = "database_full"
	CodeOutcomeUnknown      Code = "outcome_unknown"
	CodeInternal            Code = "internal"
)

// statusClientClosed is nginx's status for a caller who left before the answer; it is seen in logs and the audit log only.
const statusClientClosed = 499

// kind is what the table says of a code.
type kind struct {
	status int
	title  string
}

// table is the list of all codes: the single place for their status and title, and what OpenAPI prints.
var table = map[Code]kind{
	CodeUnauthenticated:     {http.StatusUnauthorized, "Log in first"},
	CodeInvalidCredentials:  {http.StatusUnauthorized, "Wrong credentials"},
	CodeForbidden:           {http.StatusForbidden, "Your role does not allow this"},
	CodeCrossOrigin:         {http.StatusForbidden, "Request from another site refused"},
	CodeEntitlementRequired: {http.StatusForbidden, "This feature is disabled"},
	CodeMalformed:           {http.StatusBadRequest, "Not a well-formed request"},
	CodeInvalid:             {http.StatusUnprocessableEntity, "The request is not valid"},
	CodeNotFound:            {http.StatusNotFound, "Not found"},
	CodeMethodNotAllowed:    {http.StatusMethodNotAllowed, "Method not allowed"},
	CodeTooLarge:            {http.StatusRequestEntityTooLarge, "The request is too large"},
	CodeUnsupportedMedia:    {http.StatusUnsupportedMediaType, "Send application/json"},
	CodeRateLimited:         {http.StatusTooManyRequests, "Too many requests"},
	CodeConflict:            {http.StatusConflict, "Conflict"},
	CodeConfirmRequired:     {http.StatusConflict, "Confirmation required"},
	CodeSelfTarget:          {http.StatusConflict, "The service itself would be interrupted"},
	CodePlanStale:           {http.StatusConflict, "The plan is out of date"},
	CodeHostHasApps:         {http.StatusConflict, "The host still has apps"},
	CodeCapabilityMissing:   {http.StatusConflict, "No token for this capability"},
	CodeCapabilityRequired:  {http.StatusConflict, "This capability cannot be removed"},
	CodeAlreadySetUp:        {http.StatusConflict, "Already set up"},
	CodeGuestRunning:        {http.StatusConflict, "The guest is running"},
	CodeProtected:           {http.StatusConflict, "Protection is enabled"},
	CodeVolumeInUse:         {http.StatusConflict, "The volume is in use"},
	CodeVolumesNotInBackup:  {http.StatusConflict, "The backup does not contain all volumes of the guest"},
	CodeBridgeInUse:         {http.StatusConflict, "Guests are on the bridge"},
	CodeInUse:               {http.StatusConflict, "In use"},
	CodeFirewallBusy:        {http.StatusConflict, "Another draft is waiting for confirmation"},

	CodeTicketInvalid:      {http.StatusForbidden, "The ticket is not valid"},
	CodeShellDisabled:      {http.StatusConflict, "Node shells are disabled on this host"},
	CodeConsoleUnavailable: {http.StatusConflict, "No console is available"},
	CodeConsentRequired:    {http.StatusConflict, "Consent required"},
	CodeSSHNotEnrolled:     {http.StatusConflict, "No SSH key for this host"},
	CodeSSHHostKeyChanged:  {http.StatusConflict, "The machine's SSH host key has changed"},
	CodeCatalogSourceError: {http.StatusBadGateway, "The source of the catalog failed"},

	CodeLinkedCloneNeedsTemplate: {http.StatusConflict, "Linked clones need a template"},
	CodeMigrationBlocked:         {http.StatusConflict, "The migration is blocked"},
	CodeDigestConflict:           {http.StatusConflict, "Someone else changed it"},
	CodeVMAddressing:             {http.StatusConflict, "A VM's addresses are set inside it"},

	CodeGuestBusy:           {http.StatusConflict, "Another operation is in progress"},
	CodeInvalidState:        {http.StatusConflict, "Not possible in the current state"},
	CodeFileExists:          {http.StatusConflict, "The storage already has a file with this name"},
	CodeNoRoom:              {http.StatusInsufficientStorage, "Not enough free space for the file"},
	CodeJobFinished:         {http.StatusConflict, "The job has ended"},
	CodeRequestInProgress:   {http.StatusConflict, "The same request is in progress"},
	CodeAlreadyAdopted:      {http.StatusConflict, "Already adopted"},
	CodeAlreadyEnrolled:     {http.StatusConflict, "Already enrolled"},
	CodeSelfDeactivate:      {http.StatusConflict, "You cannot deactivate your own account"},
	CodeSelfDelete:          {http.StatusConflict, "You cannot delete your own account"},
	CodeLastOwner:           {http.StatusConflict, "The instance needs an active owner"},
	CodeTokenRejected:       {http.StatusBadGateway, "The hypervisor rejected the token"},
	CodeHypervisorError:     {http.StatusBadGateway, "The hypervisor failed"},
	CodePluginUnavailable:   {http.StatusServiceUnavailable, "The hypervisor's plugin is not running"},
	CodeReleaseSourceError:  {http.StatusBadGateway, "The source of releases failed"},
	CodeUpdateNotRequested:  {http.StatusServiceUnavailable, "The updater could not be started"},
	CodeUnsupported:         {http.StatusNotImplemented, "Not supported"},
	CodeUnsupportedAtScope:  {http.StatusNotImplemented, "Not supported at this scope"},
	CodeTimeout:             {http.StatusGatewayTimeout, "Timed out"},
	CodeRequestTimeout:      {http.StatusRequestTimeout, "The request took too long to arrive"},
	CodeCanceled:            {statusClientClosed, "The client closed the connection"},
	CodeStopping:            {http.StatusServiceUnavailable, "The service is stopping"},
	CodeDatabaseUnavailable: {http.StatusServiceUnavailable, "The database does not answer"},
	CodeKeyOutdated:         {http.StatusServiceUnavailable, "This instance has an old copy of the key file"},
	CodeDatabaseFull:        {http.StatusInsufficientStorage, "The database is out of disk space"},
	CodeOutcomeUnknown:      {http.StatusGatewayTimeout, "The result is unknown"},
	CodeInternal:            {http.StatusInternalServerError, "Internal error"},
}

// Status is the code's HTTP status; an unknown code is 500.
func (c Code) Status() int {
	if k, ok := table[c]; ok {
		return k.status
	}
	return http.StatusInternalServerError
}

// Title is the code's short sentence for people; it does not depend on the occurrence (RFC 9457 section 3.1.4).
func (c Code) Title() string { return table[c].title }

// Codes lists every code there is.
func Codes() []Code {
	all := make([]Code, 0, len(table))
	for c := range table {
		all = append(all, c)
	}
	return all
}
