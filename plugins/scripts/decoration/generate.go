package decoration

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Reference is the folder with the reference data: $HOSTLER_REFERENCE_DIR/catalog, or ../shared/catalog beside the repository that from is
// in.
func Reference(from string) string {
	if dir := os.Getenv("HOSTLER_REFERENCE_DIR"); dir != "" {
		return filepath.Join(dir, "catalog")
	}
	dir, err := filepath.Abs(from)
	for err == nil && dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return filepath.Join(dir, "..", "shared", "catalog")
}

// published is one of the JSON files.
type published struct {
	Name, Slug, Type, Description string
	Categories                    []int
	Created                       string `json:"date_created"`
	Port                          *int   `json:"interface_port"`
	Documentation, Website, Logo  *string
	Config                        string                               `json:"config_path"`
	Methods                       []struct{ Script, Config string }    `json:"install_methods"`
	Credentials                   struct{ Username, Password *string } `json:"default_credentials"`
	Notes                         []struct{ Text, Type string }
}

// Generate makes the files of this package of the reference data.
func Generate(reference string) (map[string][]byte, error) {
	list, err := publishedRows(reference)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, r := range list {
		line, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		out.Write(append(line, '\n'))
	}
	raw, err := os.ReadFile(filepath.Join(reference, "community-scripts", "metadata.json"))
	if err != nil {
		return nil, err
	}
	var metadata struct {
		Categories []struct {
			Category
			Order float64 `json:"sort_order"`
		}
	}
	if err := json.Unmarshal(raw, &metadata); err != nil {
		return nil, err
	}
	slices.SortStableFunc(metadata.Categories, func(a, b struct {
		Category
		Order float64 `json:"sort_order"`
	}) int {
		return cmp.Compare(a.Order, b.Order)
	})
	var categories []Category
	for _, c := range metadata.Categories {
		categories = append(categories, c.Category)
	}
	encoded, err := json.MarshalIndent(categories, "", "\t")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"decoration.jsonl": out.Bytes(), "categories.json": append(encoded, '\n')}
	for _, name := range []string{"LICENSE.ProxmoxVE", "LICENSE.ProxmoxVED"} {
		if files[name], err = os.ReadFile(filepath.Join(reference, name)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// publishedRows reads all entries. What was reviewed comes first, and goes before a draft of the same slug.
func publishedRows(reference string) ([]Row, error) {
	seen := map[string]bool{}
	var list []Row
	for _, folder := range []string{"community-scripts", "supplement"} {
		names, err := filepath.Glob(filepath.Join(reference, folder, "*.json"))
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("%s contains no entries: %w", folder, os.ErrNotExist)
		}
		for _, name := range names {
			if slices.Contains([]string{"metadata.json", "versions.json", "github-versions.json"}, filepath.Base(name)) {
				continue
			}
			raw, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			var p published
			if err := json.Unmarshal(raw, &p); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if key := p.Type + " " + p.Slug; !seen[key] {
				seen[key] = true
				list = append(list, p.row())
			}
		}
	}
	slices.SortFunc(list, func(a, b Row) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Slug, b.Slug)) })
	return list, nil
}

// row converts a published entry to a row, with trimmed texts. Notes of type
// "warn" and "warning" become warnings.
func (p published) row() Row {
	r := Row{
		Type: p.Type, Slug: p.Slug, Name: strings.TrimSpace(p.Name), Description: strings.TrimSpace(p.Description), Categories: p.Categories,
		Docs: text(p.Documentation), Website: text(p.Website), Logo: text(p.Logo), Config: p.Config, User: text(p.Credentials.Username),
		Password: text(p.Credentials.Password), Created: p.Created,
	}
	if p.Port != nil {
		r.Port = *p.Port
	}
	for _, m := range p.Methods {
		if m.Script != "" && !slices.Contains(r.Scripts, m.Script) {
			r.Scripts = append(r.Scripts, m.Script)
		}
	}
	for _, n := range p.Notes {
		level := strings.ToLower(n.Type)
		r.Notes = append(r.Notes, Note{Warning: level == "warning" || level == "warn", Text: strings.TrimSpace(n.Text)})
	}
	return r
}

// text returns the trimmed text, or "" for nil.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return strings.TrimSpace(*s)
}
