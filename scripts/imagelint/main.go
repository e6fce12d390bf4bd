// Command imagelint checks a Dockerfile with the linter of BuildKit, and a compose file by
// the schema and the consistency rules that `docker compose config` applies. It reads no
// registry and needs no container engine.
//
//	go run . DOCKERFILE COMPOSE-FILE
//
// It is a module of its own so that Cairn's does not depend on BuildKit.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerui"
	"github.com/moby/buildkit/solver/pb"
	"github.com/opencontainers/go-digest"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: imagelint DOCKERFILE COMPOSE-FILE")
		os.Exit(2)
	}
	err := errors.Join(
		lintDockerfile(context.Background(), os.Args[1], os.Stdout),
		checkCompose(context.Background(), os.Args[2]),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, "imagelint:", err)
		os.Exit(1)
	}
}

// lintDockerfile runs every rule, the experimental ones too; each warning is an error.
func lintDockerfile(ctx context.Context, path string, out io.Writer) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the Dockerfile: %w", err)
	}
	source := llb.NewSourceMap(nil, path, "Dockerfile", content)
	source.Definition = &llb.Definition{} // the file came from no build step
	found, err := dockerfile2llb.DockerfileLint(ctx, content, dockerfile2llb.ConvertOpt{
		Config:       dockerui.Config{LinterConfig: &linter.Config{ExperimentalAll: true}},
		SourceMap:    source,
		MetaResolver: anyImage{},
	})
	if err != nil {
		return fmt.Errorf("lint %s: %w", path, err)
	}
	if found.Error != nil {
		return fmt.Errorf("%s: %s", path, found.Error.Message)
	}
	if len(found.Warnings) == 0 {
		return nil
	}
	if err := found.PrintTo(out, func(source *pb.SourceInfo) *pb.SourceInfo { return source }); err != nil {
		return fmt.Errorf("print what was found in %s: %w", path, err)
	}
	return fmt.Errorf("%s: %d warnings", path, len(found.Warnings))
}

// anyImage stands for every base image: the rules look at the Dockerfile alone, but the
// conversion that runs them asks for the configurations of images.
type anyImage struct{}

func (anyImage) ResolveImageConfig(_ context.Context, ref string, _ sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	config := []byte(`{"architecture":"amd64","os":"linux","config":{},"rootfs":{"type":"layers"}}`)
	return ref, digest.FromBytes(config), config, nil
}

// checkCompose loads a compose file with all its profiles.
func checkCompose(ctx context.Context, path string) error {
	options, err := cli.NewProjectOptions([]string{path},
		cli.WithOsEnv, cli.WithProfiles([]string{"*"}), cli.WithResolvedPaths(true))
	if err != nil {
		return fmt.Errorf("read the compose file: %w", err)
	}
	project, err := options.LoadProject(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var problems []error
	for name, service := range project.AllServices() {
		for _, problem := range serviceProblems(service) {
			problems = append(problems, fmt.Errorf("%s: service %s: %s", path, name, problem))
		}
	}
	return errors.Join(problems...)
}

// serviceProblems tells what a schema can't: the rules of this repository's compose file.
func serviceProblems(service types.ServiceConfig) []string {
	var problems []string
	for _, port := range service.Ports {
		if port.HostIP != "127.0.0.1" {
			problems = append(problems, fmt.Sprintf("port %s is published on %q, not on 127.0.0.1 alone", port.Published, port.HostIP))
		}
	}
	if !slices.Contains(service.SecurityOpt, "no-new-privileges:true") {
		problems = append(problems, "security_opt lacks no-new-privileges:true")
	}
	for name, value := range service.Environment {
		if value != nil && strings.HasSuffix(name, "PASSWORD") {
			problems = append(problems, name+" stands in the file: give it by a file")
		}
	}
	return problems
}
