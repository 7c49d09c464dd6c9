package catalog

import (
	"time"

	"github.com/hostler/hostler/sdk/plugin/wire"
	catalogv1 "github.com/hostler/hostler/sdk/proto/hostler/catalog/v1"
)

// launchRequestToProto leaves the configuration to its caller.
func launchRequestToProto(r LaunchRequest) *catalogv1.LaunchRequest {
	return &catalogv1.LaunchRequest{
		Slug: wire.Text(r.Slug), Pin: pinToProto(r.Pin), Purpose: wire.Text(string(r.Purpose)), Place: wire.Text(r.Place),
		Name: wire.Text(r.Name), Container: wire.Text(r.Container), Tags: wire.Texts(r.Tags), RootStorage: wire.Text(r.RootStorage),
		TemplateStorage: wire.Text(r.TemplateStorage), Bridge: wire.Text(r.Bridge), Architecture: wire.Text(r.Architecture),
		Overrides: textMap(r.Overrides), Answers: wire.Texts(r.Answers), Yes: r.Yes,
		Release: wire.Text(r.Release),
	}
}

func launchRequestFromProto(r *catalogv1.LaunchRequest) LaunchRequest {
	return LaunchRequest{
		Slug: r.GetSlug(), Pin: pinFromProto(r.GetPin()), Purpose: Purpose(r.GetPurpose()), Place: r.GetPlace(), Name: r.GetName(),
		Container: r.GetContainer(), Tags: r.GetTags(), RootStorage: r.GetRootStorage(), TemplateStorage: r.GetTemplateStorage(),
		Bridge: r.GetBridge(), Architecture: r.GetArchitecture(), Overrides: r.GetOverrides(), Answers: r.GetAnswers(), Yes: r.GetYes(),
		Release: r.GetRelease(),
	}
}

func launchToProto(l Launch) *catalogv1.Launch {
	return &catalogv1.Launch{
		Interpreter: wire.Text(l.Interpreter), Program: wire.Text(l.Program), Arguments: wire.Texts(l.Arguments),
		Environment: wire.Each(l.Environment, variableToProto), PathFolders: wire.Texts(l.PathFolders), Input: wire.Text(l.Input),
		Prepare: wire.Each(l.Prepare, preparedFileToProto), Push: l.Push, Sentinel: wire.Text(l.Sentinel),
		Succeeded: wire.Text(l.Succeeded), Steps: wire.Each(l.Steps, stepToProto), Exits: wire.Each(l.Exits, exitToProto),
		Limit: l.Limit.Nanoseconds(), VersionFile: wire.Text(l.VersionFile),
	}
}

func launchFromProto(l *catalogv1.Launch) Launch {
	return Launch{
		Interpreter: l.GetInterpreter(), Program: l.GetProgram(), Arguments: l.GetArguments(),
		Environment: wire.Each(l.GetEnvironment(), variableFromProto), PathFolders: l.GetPathFolders(), Input: l.GetInput(),
		Prepare: wire.Each(l.GetPrepare(), preparedFileFromProto), Push: l.GetPush(), Sentinel: l.GetSentinel(),
		Succeeded: l.GetSucceeded(), Steps: wire.Each(l.GetSteps(), stepFromProto), Exits: wire.Each(l.GetExits(), exitFromProto),
		Limit: time.Duration(l.GetLimit()), VersionFile: l.GetVersionFile(),
	}
}

func variableToProto(v Variable) *catalogv1.Variable {
	return &catalogv1.Variable{Name: wire.Text(v.Name), Value: wire.Text(v.Value), Secret: v.Secret}
}

func variableFromProto(v *catalogv1.Variable) Variable {
	return Variable{Name: v.GetName(), Value: v.GetValue(), Secret: v.GetSecret()}
}

func preparedFileToProto(f PreparedFile) *catalogv1.PreparedFile {
	return &catalogv1.PreparedFile{Path: wire.Text(f.Path), Content: wire.Text(f.Content)}
}

func preparedFileFromProto(f *catalogv1.PreparedFile) PreparedFile {
	return PreparedFile{Path: f.GetPath(), Content: f.GetContent()}
}

func stepToProto(s Step) *catalogv1.Step {
	return &catalogv1.Step{Text: wire.Text(s.Text), Progress: s.Progress}
}

func stepFromProto(s *catalogv1.Step) Step { return Step{Text: s.GetText(), Progress: s.GetProgress()} }

func exitToProto(e Exit) *catalogv1.Exit {
	return &catalogv1.Exit{Status: int64(e.Status), Reason: wire.Text(e.Reason), Text: wire.Text(e.Text)}
}

func exitFromProto(e *catalogv1.Exit) Exit {
	return Exit{Status: int(e.GetStatus()), Reason: e.GetReason(), Text: e.GetText()}
}
