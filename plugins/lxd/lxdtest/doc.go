// Package lxdtest gives tests of the LXD driver real servers, and what real servers once answered.
//
// The TestMain of a package calls Main, which runs the tests in mount, network and process namespaces of their own, on a file
// system in memory. The end of the tests, however they end, is the end of all that they started. Shared and New give a
// Server to a test; both skip it where there can be no LXD, and fail it when HOSTLER_SERVERS_REQUIRED is set. Wanted are Linux,
// root, the packages lxd, busybox-static, dnsmasq-base and nftables, and no network: .ci/deps installs them.
//
// Exchanges are recordings of LXD 5.0.2 and Incus 6.0.4. They are not part of the repository; tests that want them skip without.
package lxdtest
