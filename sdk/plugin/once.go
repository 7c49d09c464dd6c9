package plugin

import (
	"context"

	"google.golang.org/grpc/metadata"
)

// onceKey is the name of the gRPC metadata that carries the mark of Once.
const onceKey = "hostler-once"

// Once marks a call for which the endpoint should get at most one request, if one
// is enough for an answer. The driver does not retry a failed request, and does not
// send further requests to find the reason of a refusal. The service uses the mark
// for reads in the background, which have a budget of requests. The mark travels to
// the plugin with the call.
func Once(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, onceKey, "1")
}

// IsOnce reports whether Once marked the call of ctx. It works in the plugin and
// for a driver that is called directly.
func IsOnce(ctx context.Context) bool {
	if got, ok := metadata.FromIncomingContext(ctx); ok && len(got.Get(onceKey)) > 0 {
		return true
	}
	got, ok := metadata.FromOutgoingContext(ctx)
	return ok && len(got.Get(onceKey)) > 0
}
