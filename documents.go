// Package lightloom holds the documents of the repository, for the command lightloom docs.
package lightloom

import "embed"

// Documents are the pages, and the files beside them that they show.
//
//go:embed README.md CHANGELOG.md CONTRIBUTING.md LICENSE get.sh
//go:embed docs/*.md docs/*/*.md docs/bench/*/*.md docs/bench/*/*.svg
//go:embed docs/images docs/examples mininet/README.md packaging/monitoring
var Documents embed.FS
