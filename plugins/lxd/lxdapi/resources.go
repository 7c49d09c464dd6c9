package lxdapi

import "context"

// Resources is the hardware of a server.
type Resources struct {
	CPU struct {
		Architecture string `json:"architecture"`
		// Total is the number of threads.
		Total   int64 `json:"total"`
		Sockets []struct {
			Name  string `json:"name"`
			Cores []struct {
				Core int64 `json:"core"`
			} `json:"cores"`
		} `json:"sockets"`
	} `json:"cpu"`
	// Memory is in bytes.
	Memory struct {
		Used  int64 `json:"used"`
		Total int64 `json:"total"`
	} `json:"memory"`
}

// Resources reads the hardware of a member; empty is the member that answers.
func (c *Client) Resources(ctx context.Context, member string) (*Resources, error) {
	query, err := targeting(member)
	if err != nil {
		return nil, err
	}
	var resources Resources
	if _, err := c.get(ctx, rootPath+"/resources", query, &resources); err != nil {
		return nil, err
	}
	return &resources, nil
}
