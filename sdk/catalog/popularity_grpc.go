package catalog

import (
	"context"
	"time"

	"github.com/hostler/hostler/sdk/plugin/wire"
	catalogv1 "github.com/hostler/hostler/sdk/proto/hostler/catalog/v1"
)

type popularityServer struct {
	catalogv1.UnimplementedPopularityServiceServer
	*server
}

func (c *remoteCatalog) Popularity(ctx context.Context, days int) ([]Score, time.Time, error) {
	req := &catalogv1.PopularityRequest{Config: c.config, Days: int64(days)}
	answer, err := wire.Call(ctx, catalogv1.NewPopularityServiceClient(c.client.conn).Popularity, req)
	return wire.Each(answer.GetScores(), scoreFromProto), wire.Time(answer.GetAsOf()), err
}

func (s *popularityServer) Popularity(ctx context.Context, req *catalogv1.PopularityRequest) (*catalogv1.PopularityResponse, error) {
	return serve(ctx, s.server, req, func(c Ranker) (*catalogv1.PopularityResponse, error) {
		scores, asOf, err := c.Popularity(ctx, int(req.GetDays()))
		return &catalogv1.PopularityResponse{Scores: wire.Each(scores, scoreToProto), AsOf: wire.Timestamp(asOf)}, err
	})
}

func scoreToProto(s Score) *catalogv1.Score {
	return &catalogv1.Score{Slug: wire.Text(s.Slug), Score: s.Score}
}

func scoreFromProto(s *catalogv1.Score) Score { return Score{Slug: s.GetSlug(), Score: s.GetScore()} }
