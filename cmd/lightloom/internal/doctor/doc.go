// Package doctor reports what this machine allows and how much it carries: one finding a line, each
// with what to do about it. It changes nothing outside of namespaces that are gone when it returns.
//
// Half of the findings are made inside new namespaces: the package starts this program again there with
// the command line `doctor`, and that process answers in JSON.
package doctor
