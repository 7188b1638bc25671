# The image of image-watcher, one for all roles. Needs BuildKit, which is what `docker build` uses.
#
#   docker build --tag image-watcher:dev .
#   docker run --rm image-watcher:dev --help
#
# The bases are arguments: to use a mirror, to pin a digest (name:tag@sha256:…), or to use one that was made by oneself.
#   NODE_IMAGE   the program node in /usr/local/bin
#   BUILD_IMAGE  the same on the platform of the builder, with npm and a shell
#   BASE_IMAGE   what node needs to run: glibc, libstdc++, the certificates; no shell
# Settings of npm (a mirror, a proxy, an authority) come as a secret and leave no trace: --secret id=npmrc,src=$HOME/.npmrc

ARG NODE_IMAGE=named-node
ARG BUILD_IMAGE=named-build
ARG BASE_IMAGE=named-base

# Written in full here, where Dependabot finds them, which proposes newer tags and digests (test/release/dependabot.test.ts).
# The Node that the tests run with; test/image/dockerfile.test.ts holds it to that.
FROM docker.io/library/node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe AS named-node
FROM --platform=$BUILDPLATFORM docker.io/library/node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe AS named-build
FROM gcr.io/distroless/cc-debian13:nonroot@sha256:54df941ed0d06a1bd95ef5e0ce391fd8d9f94b64782dc9a60062727849ee3f97 AS named-base

FROM ${NODE_IMAGE} AS node

# On the builder's own platform: the program in JavaScript, as the package of npm has it. Started from it, the service needs half of the processor time.
FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS program
WORKDIR /program
COPY package.json package-lock.json ./
RUN --mount=type=secret,id=npmrc,target=/run/npmrc \
    NPM_CONFIG_USERCONFIG=/run/npmrc npm ci --ignore-scripts --no-audit --no-fund --cache=/tmp/npm
COPY src src
COPY test/release test/release
RUN node test/release/build-package.ts

# Without optional packages and install scripts, what is installed is the same for all platforms.
FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS layers
WORKDIR /layers/app/app
COPY package.json package-lock.json LICENSE ./
RUN --mount=type=secret,id=npmrc,target=/run/npmrc \
    NPM_CONFIG_USERCONFIG=/run/npmrc npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund --cache=/tmp/npm && \
    rm node_modules/.package-lock.json
# None of them is read at run time.
RUN find node_modules -type f '(' -name '*.map' -o -name '*.ts' -o -name '*.[cm]ts' ')' -delete
COPY --from=program /program/dist dist
COPY --from=node /usr/local/bin/node /layers/node/usr/local/bin/node
# The same files and folders make the same layers, whenever they are built.
ARG SOURCE_DATE_EPOCH=0
RUN find /layers -exec touch --no-dereference --date=@${SOURCE_DATE_EPOCH} {} +

FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title=image-watcher \
      org.opencontainers.image.description="Webhook-driven image updater for Kubernetes" \
      org.opencontainers.image.licenses=Apache-2.0
COPY --from=layers /layers/node /
COPY --from=layers /layers/app /
# glibc otherwise keeps what each thread has freed: 30 MB after a start.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072
WORKDIR /app
USER 65532:65532
# Webhooks, operations, conversion.
EXPOSE 8080 9090 9443
# By itself node lets garbage grow by what it thinks the machine has: a third of the memory, which buys little here (docs/benchmarks.md),
# and ends when its heap has reached half of the container's memory.
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=16", "--heap-growing-percent=30", "--max-old-space-size-percentage=70", "--expose-gc", "/app/dist/main.js"]
