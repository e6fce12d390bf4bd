# Cairn's image: one static program, root certificates and time zones; no shell.
# Tags name the newest build of a base image. To have the same one every time, give its
# digest (see docs/image.md): --build-arg GO_IMAGE=golang:1.26@sha256:…
ARG GO_IMAGE=golang:1.26
ARG BASE_IMAGE=gcr.io/distroless/static-debian12:nonroot

# The compiler runs on the builder's platform and builds for the target's.
FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS build
WORKDIR /src
ARG GOPROXY=https://proxy.golang.org,direct
COPY go.mod go.sum ./
COPY cmd cmd
COPY docs docs
COPY internal internal
ARG TARGETOS
ARG TARGETARCH
ARG VERSION
ARG COMMIT
RUN --mount=type=cache,target=/go/pkg/mod \
    --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -trimpath -buildvcs=false \
        -ldflags "-s -w -X main.version=${VERSION} -X main.commit=${COMMIT}" \
        -o /out/cairn ./cmd/bot && \
    mkdir -p /out/data

FROM ${BASE_IMAGE}
ARG VERSION
ARG COMMIT
LABEL org.opencontainers.image.title="Cairn" \
      org.opencontainers.image.description="Answers a team's questions from its own documents, with sources" \
      org.opencontainers.image.source="https://github.com/cairn-bot/cairn" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}"
COPY LICENSE NOTICE /licenses/
COPY deploy/cairn.yaml /etc/cairn/cairn.yaml
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build /out/cairn /cairn
ENV CAIRN_CONFIG=/etc/cairn/cairn.yaml \
    CAIRN_DATA_DIR=/data
USER 65532:65532
ENTRYPOINT ["/cairn"]
CMD ["serve"]
