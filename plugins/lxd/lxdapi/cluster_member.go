package lxdapi

import "context"

// ClusterMember is one server of a cluster.
type ClusterMember struct {
	Name string `json:"server_name"`
	// URL is where it listens: https://10.0.0.1:8443.
	URL string `json:"url"`
	// Status is Online, Offline or Evacuated. One that is away counts as Online until 20 s after its last sign of life.
	Status string `json:"status"`
	// Message says more.
	Message string `json:"message"`
}

// ClusterMembers lists the members. It is Unsupported where Server says that there is no cluster.
func (c *Client) ClusterMembers(ctx context.Context) ([]ClusterMember, error) {
	all, _, err := list[ClusterMember](ctx, c, rootPath+"/cluster/members", recursion())
	if err != nil {
		return nil, err
	}
	for i := range all {
		if checkName(all[i].Name) != nil {
			return nil, nameless("a member of the cluster")
		}
	}
	return all, nil
}
