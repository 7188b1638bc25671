/** Versions of bases: a distribution and a runtime on it, with links and whiteouts. */
import { type Image, type Layer, type Layout, writeImage } from './oci-layout.ts';
import { push } from './skopeo.ts';
import { type Entry, file, folder, hardlink, removed, symlink } from './tar-writer.ts';

/** A version of a base that was pushed. */
export interface Version {
  /** Without the tag: `registry.example.com/library/java`. */
  readonly name: string;
  readonly tag: string;
  readonly image: Image;
  readonly layout: Layout;
}

export const amd64 = ['linux/amd64'];
export const bothPlatforms = ['linux/amd64', 'linux/arm64'];

/** The lowest layer: files of a distribution, which show its C library and its package manager. */
const distributions = {
  debian: () => [
    file('etc/os-release', 'ID=debian\nVERSION_ID="12"\n'),
    file('var/lib/dpkg/status', 'Package: libc6\n'),
    file('lib/ld-linux.so.2', 'glibc', 0o755),
    file('usr/share/doc/libc6/copyright', 'GPL'),
  ],
  alpine: () => [
    file('etc/os-release', 'ID=alpine\nVERSION_ID=3.20.1\n'),
    file('lib/apk/db/installed', 'P:musl\n'),
    file('lib/ld-musl-x86_64.so.1', 'musl', 0o755),
  ],
  ubi: () => [
    file('etc/os-release', 'ID="rhel"\nVERSION_ID="9.4"\n'),
    file('var/lib/rpm/rpmdb.sqlite', 'rpm'),
    file('lib64/ld-linux.so.2', 'glibc', 0o755),
  ],
  suse: () => [
    file('etc/os-release', 'ID="sles"\nVERSION_ID="15.6"\n'),
    file('usr/lib/sysimage/rpm/rpmdb.sqlite', 'rpm'),
    file('lib64/ld-linux.so.2', 'glibc', 0o755),
  ],
} satisfies Record<string, () => Entry[]>;

export type Distribution = keyof typeof distributions;

/** The distribution alone, as `FROM debian` would have it. */
export function distribution(name: Distribution, patch = '1'): Layer {
  const common = [
    folder('etc'),
    folder('tmp', 0o1777),
    file('usr/bin/sh', `sh of ${name} ${patch}`, 0o755),
    hardlink('usr/bin/bash', 'usr/bin/sh'),
  ];
  return {
    entries: (platform) => [
      ...common,
      ...distributions[name](),
      file('usr/lib/libc.so', `libc of ${name} ${patch} for ${platform}`, 0o755),
    ],
  };
}

/** The files of a runtime, which are the same wherever they are copied to. */
export function runtimeFiles(runtime: string, version: string, platform: string): Entry[] {
  const home = `opt/${runtime}`;
  return [
    folder(`${home}/bin`),
    file(`${home}/bin/${runtime}`, `${runtime} ${version} for ${platform}`, 0o755),
    hardlink(`${home}/bin/${runtime}-server`, `${home}/bin/${runtime}`),
    symlink(`usr/bin/${runtime}`, `/${home}/bin/${runtime}`),
    file(`${home}/lib/certificates`, `certificates of ${version}`, 0o600),
    // A file that each version has under another name.
    file(`${home}/lib/${runtime}-${version}.so`, version),
    file(`${home}/share/man/${runtime}.1`, `manual of ${version}`),
    file('tmp/installer', 'installer', 0o700),
  ];
}

/** A base with a runtime: three layers, of which the last removes what the second does not need any more. */
export function baseOf(runtime: string, version: string, of: { distribution: Distribution; patch?: string; compression?: 'zstd' }): Image {
  const layers: Layer[] = [
    distribution(of.distribution, of.patch),
    { entries: (platform) => runtimeFiles(runtime, version, platform) },
    { entries: () => [removed('tmp/installer'), file('etc/motd', `${runtime} ${version}`)] },
  ];
  return {
    layers: layers.map((layer) => ({ ...layer, compression: of.compression ?? 'gzip' })),
    platforms: bothPlatforms,
    config: {
      Env: [`PATH=/opt/${runtime}/bin:/usr/bin`, `${runtime.toUpperCase()}_VERSION=${version}`],
      User: '1000',
      WorkingDir: '/app',
      Entrypoint: [runtime],
    },
    provenance: { buildDefinition: { buildType: 'https://example.com/base', externalParameters: {}, resolvedDependencies: [] } },
  };
}

/** Writes a version and pushes it. */
export async function pushVersion(name: string, tag: string, image: Image): Promise<Version> {
  const layout = writeImage(image);
  await push(layout, `${name}:${tag}`);
  return { name, tag, image, layout };
}
