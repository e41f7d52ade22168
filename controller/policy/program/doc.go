// Package program lets programs in any language answer a policy's questions. It starts a program for
// each question and policy, and speaks with it over its standard input and output in JSON, one value a
// line: Hello and its echo, then a question and an answer at each decision. It says what has changed
// since the question before, so that a decision costs what the change costs. What a program writes to
// standard error is passed on.
//
// A program decides from what it has been told, and from nothing else: the same words must get the same
// answers, so that another leader's program decides likewise. It ends when its standard input does.
package program
