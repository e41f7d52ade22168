// Package netnstest lets tests run inside namespaces of their own: a package's TestMain calls Main, and
// a test that builds interfaces calls Need and Lock first.
//
// It is for tests only.
package netnstest
