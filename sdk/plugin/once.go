package plugin

import (
	"context"

	"google.golang.org/grpc/metadata"
)

const onceKey = "hostler-once"

// Once marks a call for which the other side is sent one request at the most, where one is enough for an answer: one that fails is not
// tried again, and a refusal is not looked into by further requests. The service reads so in the background, within a budget of requests.
// The mark goes with the call to the plugin.
func Once(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, onceKey, "1")
}

// IsOnce reports whether the call of ctx was marked by Once: in the plugin, or where the driver is called directly.
func IsOnce(ctx context.Context) bool {
	if got, ok := metadata.FromIncomingContext(ctx); ok && len(got.Get(onceKey)) > 0 {
		return true
	}
	got, ok := metadata.FromOutgoingContext(ctx)
	return ok && len(got.Get(onceKey)) > 0
}
