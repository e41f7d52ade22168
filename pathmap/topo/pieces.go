package topo

import (
	"errors"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"lightloom/pathmap/plaintext"
)

// bodyOf is where the value of a key may stand below it: at the top or in topology:.
func (e entry) bodyOf() plaintext.BodyOf {
	return plaintext.BodyOf{Key: e.key, Inner: e.at.Position.Column > 1}
}

// each parses the elements of a body, some at a time, and calls read with what they are: a list, or a mapping.
func (t tree) each(b plaintext.Body, read func(ast.Node) error) error {
	for piece := range b.Pieces() {
		file, err := piece.Parse()
		if err != nil {
			if ye := yaml.Error(nil); errors.As(err, &ye) {
				return t.wrong(ye.GetToken(), "YAML: %s", ye.GetMessage())
			}
			return t.wrong(nil, "YAML: %w", err)
		}
		for _, d := range file.Docs {
			if d == nil || d.Body == nil {
				continue
			}
			if err := read(d.Body); err != nil {
				return err
			}
		}
	}
	return nil
}

// elements calls read with each element of a pair's list.
func (t tree) elements(e entry, read func(ast.Node) error) error {
	all := func(n ast.Node) error {
		list, err := t.list(n, e.key)
		if err != nil {
			return err
		}
		for _, n := range list {
			if err := read(n); err != nil {
				return err
			}
		}
		return nil
	}
	if b, ok := t.bodies[e.bodyOf()]; ok {
		return t.each(b, all)
	}
	return all(e.value)
}

// pairs calls read with each pair of a pair's mapping.
func (t tree) pairs(e entry, read func(entry) error) error {
	all := func(n ast.Node) error {
		pairs, err := t.mapping(n, e.key)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if err := read(p); err != nil {
				return err
			}
		}
		return nil
	}
	if b, ok := t.bodies[e.bodyOf()]; ok {
		return t.each(b, all)
	}
	return all(e.value)
}
