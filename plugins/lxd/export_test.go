package lxd

// What tests of the package look at from outside.
var (
	InstanceRef  = instanceRef
	Unrestricted = unrestricted
	ClientType   = clientType
	AnyProject   = anyProject
)
