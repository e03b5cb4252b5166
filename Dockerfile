# warp and the authorities that stores' certificates are checked by, and nothing else. Logs go to the working folder.
#   docker build --build-arg VERSION=$(git describe --tags) -t warp .
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=0.0.0-dev
ARG COMMIT=unknown
ARG DATE=unknown
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X warp/cli.version=${VERSION} -X warp/cli.commit=${COMMIT} -X warp/cli.date=${DATE}" -o /out/warp . && mkdir /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/warp /warp
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
WORKDIR /data
EXPOSE 7761
ENTRYPOINT ["/warp"]
