// Package doctor says what this machine allows and how much it carries: one finding a line, each with what to do about
// it. It changes nothing outside of namespaces that are gone when it returns.
//
// Half of its questions are asked from inside new namespaces: it starts this program again there with the command line
// `doctor`, and that process answers in JSON.
package doctor
