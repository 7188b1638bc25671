#!/usr/bin/env bash
# Runs image-watcher with these arguments: the one on the PATH, or else that of the release IMAGE_WATCHER_VERSION.
set -euo pipefail

if ! command -v image-watcher > /dev/null; then
  version=${IMAGE_WATCHER_VERSION:-}
  if [ -z "$version" ]; then
    echo "image-watcher is not on the PATH: say with the input version which release to use, such as 1.2.3" >&2
    exit 2
  fi
  case "$(uname -m)" in
    x86_64) machine=amd64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) echo "there is no executable for $(uname -m)" >&2; exit 2 ;;
  esac
  folder=$(mktemp -d)
  releases=${IMAGE_WATCHER_RELEASES:-https://github.com/technomad/image-watcher/releases/download}
  curl -fsSL --retry 3 "$releases/v$version/image-watcher-$version-linux-$machine.tar.gz" | tar -xz -C "$folder"
  PATH="$folder:$PATH"
fi
exec image-watcher "$@"
