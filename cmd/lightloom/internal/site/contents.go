package site

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"maragu.dev/gomponents"
	"maragu.dev/gomponents/html"
)

// contentsFile lists the documents in the order in which they are read: a heading for each room, links
// below it.
const contentsFile = "docs/README.md"

// room is a part of the documentation, and one word of the header.
type room struct {
	name  string
	pages []chapter
}

// chapter is a page that the contents name.
type chapter struct {
	file  string // of the document
	label string
}

// rooms reads the contents.
func (b *builder) rooms() ([]room, error) {
	var all []room
	for n, source := range b.nodes(contentsFile) {
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				all = append(all, room{name: words(n, source)})
			}
		case *ast.Link:
			if to, ok := b.document(contentsFile, n); ok && len(all) > 0 {
				r := &all[len(all)-1]
				r.pages = append(r.pages, chapter{to, words(n, source)})
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no room: write a heading of level 2, and links below it", contentsFile)
	}
	for _, r := range all {
		if len(r.pages) == 0 {
			return nil, fmt.Errorf("%s: room %q has no page: link to one below its heading", contentsFile, r.name)
		}
	}
	return all, nil
}

// order returns all documents in reading order: an index is followed by what it lists of its own folder.
func (b *builder) order(rooms []room) []string {
	var all []string
	for _, r := range rooms {
		for _, c := range r.pages {
			all = append(all, c.file)
		}
	}

	named := slices.Clone(all)
	for i := 0; i < len(all); i++ {
		dir, file := path.Split(all[i])
		if file != "README.md" || dir == "" { // the first page is no index: it links to pages of every room
			continue
		}
		var listed []string
		for n := range b.nodes(all[i]) {
			l, ok := n.(*ast.Link)
			if !ok {
				continue
			}
			to, ok := b.document(all[i], l)
			if ok && strings.HasPrefix(to, dir) && !slices.Contains(named, to) {
				named, listed = append(named, to), append(listed, to)
			}
		}
		all = slices.Insert(all, i+1, listed...)
	}
	return all
}

// nodes yields the parts of a document and its source; none if it cannot be read.
func (b *builder) nodes(name string) func(func(ast.Node, []byte) bool) {
	return func(yield func(ast.Node, []byte) bool) {
		source := b.sources[name]
		root := b.markdown.Parser().Parse(text.NewReader(source))
		_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering && !yield(n, source) {
				return ast.WalkStop, nil
			}
			return ast.WalkContinue, nil
		})
	}
}

// document returns the document that a link of another one names.
func (b *builder) document(from string, l *ast.Link) (string, bool) {
	file, _, _ := strings.Cut(string(l.Destination), "#")
	to := path.Join(path.Dir(from), file)
	_, ok := b.sources[to]
	return to, ok
}

// header has the rooms, the pages of the room that the document is in, and the search.
func header(name string, rooms []room, order []string) gomponents.Node {
	here := roomOf(name, rooms, order)
	link := func(c chapter, text string, current string) gomponents.Node {
		return html.A(html.Href(address(name, c.file)), gomponents.Text(text),
			gomponents.If(current != "", html.Aria("current", current)))
	}

	var top, sub []gomponents.Node
	for i, r := range rooms {
		current := ""
		if i == here {
			current = "true"
		}
		top = append(top, link(r.pages[0], r.name, current))
	}
	if here >= 0 && len(rooms[here].pages) > 1 {
		for _, c := range rooms[here].pages {
			current := ""
			if c.file == name {
				current = "page"
			}
			sub = append(sub, link(c, c.label, current))
		}
	}

	return html.Header(
		html.Nav(html.Aria("label", "Rooms"),
			html.A(html.Class("name"), html.Href(address(name, "README.md")), gomponents.Text("Lightloom")),
			gomponents.Group(top)),
		html.Label(html.For("search"), gomponents.Text("Search")),
		html.Input(html.ID("search"), html.Type("search"), html.AutoComplete("off"),
			html.Data("root", up(name))),
		gomponents.If(sub != nil, html.Nav(html.Class("sub"), html.Aria("label", "Pages"),
			gomponents.Group(sub))),
		html.Ol(html.ID("found"), gomponents.Attr("hidden"), html.Aria("live", "polite")))
}

// roomOf returns the number of the room that a document is in; -1 for one that the contents do not lead to.
func roomOf(name string, rooms []room, order []string) int {
	at := slices.Index(order, name)
	if at < 0 {
		return -1
	}
	here := 0
	for i, r := range rooms {
		if slices.Index(order, r.pages[0].file) <= at {
			here = i
		}
	}
	return here
}

// footer leads to the pages before and after a document.
func (b *builder) footer(name string, order []string) gomponents.Node {
	at := slices.Index(order, name)
	if at < 0 {
		return html.Footer()
	}
	link := func(i int, rel, before, after string) gomponents.Node {
		if i < 0 || i >= len(order) {
			return html.Span()
		}
		return html.A(html.Href(address(name, order[i])), html.Rel(rel),
			gomponents.Text(before+b.titles[order[i]]+after))
	}
	return html.Footer(html.Nav(html.Aria("label", "Reading order"),
		link(at-1, "prev", "← ", ""), link(at+1, "next", "", " →")))
}

// up leads from a document's page to the site's root.
func up(name string) string { return strings.Repeat("../", strings.Count(name, "/")) }

// address leads from a document's page to another one's.
func address(name, to string) string { return up(name) + pageName(to) }
