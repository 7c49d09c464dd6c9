package lxdapi

import "context"

// Project is a name space of instances.
type Project struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Projects lists the projects that the certificate may see.
func (c *Client) Projects(ctx context.Context) ([]Project, error) {
	all, _, err := list[Project](ctx, c, rootPath+"/projects", recursion())
	if err != nil {
		return nil, err
	}
	for i := range all {
		if checkName(all[i].Name) != nil {
			return nil, nameless("a project")
		}
	}
	return all, nil
}
