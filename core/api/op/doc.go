// Package op turns one declaration into one operation of the HTTP API. The
// declaration
//
//	op.Post(a, "/api/v1/vms/:vm_id/snapshots", h.create, op.Spec{
//		ID: "create_vm_snapshot", Summary: "Take a snapshot of a VM", Tag: "VMs",
//		Role: identity.Operator, On: op.VM, Status: http.StatusAccepted,
//		Audit: op.Audit{Action: "vm.snapshot_create"},
//	})
//
// produces the route, the caller, the role, the scope of API keys, the
// entitlement, the input with all its faults in one response, the entry in the
// audit log, the problem documents and the OpenAPI description. The packages
// below core/api contain nothing but declarations and handlers.
//
// The package does not contain handlers and does not know what the operations
// do. Binding, validation and schemas come from the huma library; what a caller
// may do, and in which order a request is refused, is decided here.
//
// # Main types
//
//   - API is the set of all operations, created by New from a Config. Get,
//     Post, Put, Patch and Delete add an operation. Download, Upload, Stream,
//     Socket and GetImage add one whose body is not JSON.
//   - Spec is the declaration of an operation: who may call it (Role, On,
//     Scope), what it answers, and its limits.
//   - Authenticator recognizes the caller. Resolver finds the object in the
//     path, together with its team. Tokens says whether a host has a
//     credential.
//   - ResourceOf returns the object that the operation is on, for the
//     handler.
//
// # A handler
//
// A handler is func(ctx, *I) (*O, error). I has fields with the tags path,
// query or header, and a field Body. O has a field Body, and fields for
// headers. Body, List and Page are ready-made parts:
//
//	func (h *handler) list(ctx context.Context, in *struct{ op.Page }) (*op.List[vm.VM], error)
//
// # Life of a request
//
//	ServeHTTP       request ID, security headers, deadlines, recovery
//	Router          finds the operation
//	admit           caller, origin, role, object, entitlement
//	limitPublic     rate limit of public operations
//	readBody        the body, checked as JSON and against its schema
//	serveIdempotent replays the response of an earlier request
//	huma            binds the input
//	ready           reports faults, then a missing object or token
//	handler         does the work and writes the entry in the audit log
//	record or fail  the entry if the handler wrote none; the response
//
// # Order of refusals
//
//	401 → role or key scope 403 → entitlement 403 → input 422 → existence 404 → state 409
//
// An object outside of the caller's teams is answered exactly like one that
// does not exist, so that nobody can find out which IDs exist.
//
// # Invariants
//
//   - Every operation that changes something writes an entry in the audit
//     log, also when it is refused.
//   - The handler writes that entry in the transaction of its change
//     (audit.Write). If it wrote none, the entry is written here after the
//     answer is known.
//   - A request with an Idempotency-Key is carried out at most once; see
//     idempotency.go.
//   - A body has a size limit and a handler a time limit, unless the Spec
//     says otherwise.
//   - A declaration that contradicts itself panics when it is registered.
//
// # Errors
//
// A handler returns a *problem.Error for a refusal. Any other error becomes the
// problem internal, whose cause is only logged.
package op
