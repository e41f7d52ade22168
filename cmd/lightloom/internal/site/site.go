// Package site makes plain files for a browser of the project's documents, with a search that needs no
// server. The order of the pages, and so header and footer, come from docs/README.md. Any README.md is
// the first page of its folder.
package site

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"maragu.dev/gomponents"
	"maragu.dev/gomponents/html"
)

//go:embed site.css
var style []byte

//go:embed search.js
var script []byte

//go:embed icon.svg
var icon []byte

// Names of the files that are no document.
const (
	styleFile  = "site.css"
	scriptFile = "search.js"
	iconFile   = "icon.svg"
	indexFile  = "index.js" // what search.js looks through
)

// Site is the files of a site by name.
type Site map[string][]byte

// section is a heading with what stands below it, as the search knows it.
type section struct {
	Page    string `json:"p"` // the page's title
	Heading string `json:"h"`
	Address string `json:"u"` // from the site's root
	Text    string `json:"t"`
}

// Build makes a site of all documents of a tree. Other files are copied.
func Build(tree fs.FS) (Site, error) {
	b := builder{site: Site{styleFile: style, scriptFile: script, iconFile: icon}, tree: tree,
		markdown: goldmark.New(goldmark.WithExtensions(extension.GFM),
			goldmark.WithParserOptions(parser.WithAutoHeadingID())),
		sources: map[string][]byte{}, titles: map[string]string{}}
	if err := b.build(); err != nil {
		return nil, fmt.Errorf("build documentation: %w", err)
	}
	return b.site, nil
}

type builder struct {
	site     Site
	tree     fs.FS
	markdown goldmark.Markdown
	sources  map[string][]byte // of documents, by name
	titles   map[string]string
	sections []section
}

func (b *builder) build() error {
	if err := fs.WalkDir(b.tree, ".", b.load); err != nil {
		return err
	}
	rooms, err := b.rooms()
	if err != nil {
		return err
	}
	order := b.order(rooms)

	names := slices.Sorted(maps.Keys(b.sources))
	bodies := make([][]byte, len(names))
	for i, name := range names { // a footer has the titles of other pages, so that all are read first
		if bodies[i], err = b.body(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for i, name := range names {
		var out bytes.Buffer
		if err := b.page(name, bodies[i], rooms, order).Render(&out); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b.site[pageName(name)] = out.Bytes()
	}

	index, err := json.Marshal(b.sections)
	b.site[indexFile] = slices.Concat([]byte("const sections = "), index, []byte(";\n"))
	return err
}

// load keeps a document's source, and copies any other file.
func (b *builder) load(name string, d fs.DirEntry, err error) error {
	if err != nil || d.IsDir() {
		return err
	}
	text, err := fs.ReadFile(b.tree, name)
	if path.Ext(name) == ".md" {
		b.sources[name] = text
	} else {
		b.site[name] = text
	}
	return err
}

// pageName is the file of a document.
func pageName(name string) string {
	dir, file := path.Split(name)
	if file == "README.md" {
		return dir + "index.html"
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

// body reads a document, and returns what its page shows.
func (b *builder) body(name string) ([]byte, error) {
	source := b.sources[name]
	root := b.markdown.Parser().Parse(text.NewReader(source))
	b.titles[name] = b.read(name, root, source)
	var out bytes.Buffer
	err := b.markdown.Renderer().Render(&out, source, root)
	return out.Bytes(), err
}

// page makes the page of one document.
func (b *builder) page(name string, body []byte, rooms []room, order []string) gomponents.Node {
	root := up(name)
	return html.Doctype(html.HTML(html.Lang("en"),
		html.Head(html.Meta(html.Charset("utf-8")),
			html.Meta(html.Name("viewport"), html.Content("width=device-width, initial-scale=1")),
			html.TitleEl(gomponents.Text(b.titles[name]+" · Lightloom")),
			html.Link(html.Rel("icon"), html.Href(root+iconFile)),
			html.Link(html.Rel("stylesheet"), html.Href(root+styleFile))),
		html.Body(
			header(name, rooms, order),
			html.Main(gomponents.Raw(string(body))),
			b.footer(name, order),
			html.Script(html.Src(root+indexFile)), html.Script(html.Src(root+scriptFile)))))
}

// read collects a document's sections, turns its links to documents into links to pages, and returns
// its title.
func (b *builder) read(name string, root ast.Node, source []byte) (title string) {
	now := -1 // the section under way
	var gone []*ast.Link
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if title == "" {
				title = words(n, source)
			}
			s := section{Page: title, Heading: words(n, source), Address: pageName(name)}
			if id, ok := n.AttributeString("id"); ok {
				s.Address += fmt.Sprintf("#%s", id)
			}
			b.sections, now = append(b.sections, s), len(b.sections)
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			if to, ok := b.target(name, string(n.Destination)); ok {
				n.Destination = []byte(to)
			} else {
				gone = append(gone, n)
			}
		case *ast.Text:
			b.addText(now, n.Value(source))
			if n.SoftLineBreak() {
				b.addText(now, []byte(" "))
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.addText(now, line.Value(source))
			}
		}
		if n.Type() == ast.TypeBlock {
			b.addText(now, []byte(" "))
		}
		return ast.WalkContinue, nil
	})
	for _, l := range gone { // its text stays
		for c := l.FirstChild(); c != nil; c = l.FirstChild() {
			l.Parent().InsertBefore(l.Parent(), l, c)
		}
		l.Parent().RemoveChild(l.Parent(), l)
	}
	if title == "" {
		title = name
	}
	return title
}

// addText adds words to a section.
func (b *builder) addText(now int, text []byte) {
	if now >= 0 {
		b.sections[now].Text += string(text)
	}
}

// words are the text of a heading.
func words(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := c.(*ast.Text); ok && entering {
			out.Write(t.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}

// target returns where a link of a document leads on the site; false if what it names is in the source
// tree only.
func (b *builder) target(name, to string) (string, bool) {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "#") || strings.HasPrefix(to, "mailto:") {
		return to, true
	}
	file, anchor, has := strings.Cut(to, "#")
	at := path.Join(path.Dir(name), file)
	info, err := fs.Stat(b.tree, at)
	switch {
	case err != nil:
		return "", false
	case info.IsDir():
		if _, err := fs.Stat(b.tree, path.Join(at, "README.md")); err != nil {
			return "", false
		}
		file = strings.TrimSuffix(file, "/") + "/index.html"
	case path.Ext(file) == ".md":
		file = pageName(file)
	}
	if has {
		file += "#" + anchor
	}
	return file, true
}
