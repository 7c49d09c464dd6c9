// Package installation is what the service and its updater both know of an installed Hostler: the configuration file, the
// journal of updates and who is at work on it, and the file by which the service asks for an update.
//
// The service runs with few rights and only reads here, but for its own request; the updater runs as root and believes
// the service in nothing but that request's form.
package installation
