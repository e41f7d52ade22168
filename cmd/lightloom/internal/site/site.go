// Package site makes plain files for a browser of the project's documents, with a search that needs no server. It knows
// no document by name but README.md, which is the first page of its folder.
package site

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
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

// Names of the files that are no document.
const (
	styleFile  = "site.css"
	scriptFile = "search.js"
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
	b := builder{site: Site{styleFile: style, scriptFile: script}, tree: tree,
		markdown: goldmark.New(goldmark.WithExtensions(extension.GFM),
			goldmark.WithParserOptions(parser.WithAutoHeadingID()))}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".md" {
			return b.page(name, text)
		}
		b.site[name] = text
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("build documentation: %w", err)
	}
	index, err := json.Marshal(b.sections)
	if err != nil {
		return nil, fmt.Errorf("build documentation: %w", err)
	}
	b.site[indexFile] = slices.Concat([]byte("const sections = "), index, []byte(";\n"))
	return b.site, nil
}

type builder struct {
	site     Site
	tree     fs.FS
	markdown goldmark.Markdown
	sections []section
}

// pageName is the file of a document.
func pageName(name string) string {
	dir, file := path.Split(name)
	if file == "README.md" {
		return dir + "index.html"
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

// page makes the page of one document.
func (b *builder) page(name string, source []byte) error {
	root := b.markdown.Parser().Parse(text.NewReader(source))
	title := b.read(name, root, source)
	var body bytes.Buffer
	if err := b.markdown.Renderer().Render(&body, source, root); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	up := strings.Repeat("../", strings.Count(name, "/"))
	link := func(to, text string) gomponents.Node { return html.A(html.Href(up+to), gomponents.Text(text)) }
	var page bytes.Buffer
	err := html.Doctype(html.HTML(html.Lang("en"),
		html.Head(html.Meta(html.Charset("utf-8")),
			html.Meta(html.Name("viewport"), html.Content("width=device-width, initial-scale=1")),
			html.TitleEl(gomponents.Text(title+" · Lightloom")), html.Link(html.Rel("stylesheet"), html.Href(up+styleFile))),
		html.Body(
			html.Header(html.Nav(html.Aria("label", "Documents"), link("index.html", "Lightloom"),
				link("docs/reference.html", "Reference"), link("docs/examples/index.html", "Examples"),
				link("docs/ARCHITECTURE.html", "Architecture"), link("docs/ADDING.html", "Adding"), link("docs/api.html", "API"),
				link("docs/bench/index.html", "Measurements"), link("docs/decisions/index.html", "Decisions")),
				html.Label(html.For("search"), gomponents.Text("Search")),
				html.Input(html.ID("search"), html.Type("search"), html.AutoComplete("off"), html.Data("root", up)),
				html.Ol(html.ID("found"), gomponents.Attr("hidden"), html.Aria("live", "polite"))),
			html.Main(gomponents.Raw(body.String())),
			html.Script(html.Src(up+indexFile)), html.Script(html.Src(up+scriptFile))))).Render(&page)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	b.site[pageName(name)] = page.Bytes()
	return nil
}

// read collects a document's sections, turns its links to documents into links to pages, and returns its title.
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
			b.tell(now, n.Value(source))
			if n.SoftLineBreak() {
				b.tell(now, []byte(" "))
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.tell(now, line.Value(source))
			}
		}
		if n.Type() == ast.TypeBlock {
			b.tell(now, []byte(" "))
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

// tell adds words to a section.
func (b *builder) tell(now int, text []byte) {
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

// target returns where a link of a document leads on the site; false if what it names is in the source tree only.
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
