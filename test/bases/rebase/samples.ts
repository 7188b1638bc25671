/** Images for tests of the plan: name only what matters. */
import { createHash } from 'node:crypto';
import type { ConfigDocument, Descriptor, ImageContent, PlatformContent, RunConfig } from '../../../src/bases/rebase/content.ts';
import type { FileSigns } from '../../../src/bases/rebase/file-signs.ts';
import type { RebaseRequest } from '../../../src/bases/rebase/plan-rebase.ts';

export const digestFor = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

export interface Sample {
  readonly name?: string;
  readonly tag?: string;
  /** The names of layers, with spaces. */
  readonly layers?: string;
  readonly platforms?: readonly string[];
  readonly config?: RunConfig;
  readonly fields?: Partial<ConfigDocument> & Readonly<Record<string, unknown>>;
  readonly files?: FileSigns;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly layer?: Partial<Descriptor>;
  /** How layers are compressed. */
  readonly compression?: string;
  readonly isDocker?: boolean;
}

const types = {
  oci: {
    manifest: 'application/vnd.oci.image.manifest.v1+json',
    config: 'application/vnd.oci.image.config.v1+json',
    layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
    index: 'application/vnd.oci.image.index.v1+json',
  },
  docker: {
    manifest: 'application/vnd.docker.distribution.manifest.v2+json',
    config: 'application/vnd.docker.container.image.v1+json',
    layer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
    index: 'application/vnd.docker.distribution.manifest.list.v2+json',
  },
};

/** An image; without `platforms`, it has no index. */
export function image(path: string, { tag, layers = '', platforms, ...rest }: Sample): ImageContent {
  const type = rest.isDocker ? types.docker : types.oci;
  const own = (platforms ?? ['linux/amd64']).map((platform) => platformOf(platform, layers.split(' ').filter(Boolean), rest));
  return {
    repository: { registry: 'registry.example.com', path },
    ...(tag !== undefined && { tag }),
    digest: digestFor(`${path} ${tag} ${layers}`),
    mediaType: platforms ? type.index : type.manifest,
    ...(platforms && {
      index: {
        schemaVersion: 2 as const,
        mediaType: type.index,
        manifests: own.flatMap(({ entry }) => entry ?? []),
        annotations: undefined,
      },
    }),
    platforms: platforms
      ? own
      : own.map(({ platform, mediaType, manifest, config, files }) => ({ platform, mediaType, manifest, config, ...(files && { files }) })),
    otherEntries: 0,
  };
}

function platformOf(platform: string, layers: readonly string[], sample: Sample): PlatformContent {
  const { config = {}, fields, files, annotations, layer, compression = 'gzip', isDocker } = sample;
  const [os = '', architecture = '', variant] = platform.split('/');
  const type = isDocker ? types.docker : types.oci;
  const own = { os, architecture, ...(variant !== undefined && { variant }) };
  return {
    platform,
    entry: {
      mediaType: type.manifest,
      digest: digestFor(platform + layers.join(' ')),
      size: 1,
      platform: own,
      urls: null,
      annotations: null,
    },
    mediaType: type.manifest,
    manifest: {
      schemaVersion: 2,
      mediaType: type.manifest,
      config: { mediaType: type.config, digest: digestFor('config'), size: 1, urls: null, annotations: null },
      layers: layers.map((name) => ({
        mediaType: type.layer,
        digest: digestFor(`${name} ${platform} ${compression}`),
        size: 1,
        urls: undefined,
        annotations: undefined,
        ...layer,
      })),
      annotations,
    },
    config: {
      ...own,
      rootfs: { type: 'layers', diff_ids: layers.map((name) => digestFor(`${name} ${platform}`)) },
      config,
      ...fields,
    },
    ...(files && { files }),
  };
}

export interface RequestSample {
  readonly application?: Sample;
  readonly oldBase?: Sample;
  readonly newBase?: Sample;
  readonly allow?: readonly string[];
  readonly signatures?: RebaseRequest['signatures'];
}

export const unsigned = { isSigned: false, isSignedByOwnKey: false, willBeSigned: false, isBaseVerified: true, isOldBaseVerified: true };

/** An application on 21.0.1, to be rebased onto 21.0.2. */
export function request({ application, oldBase, newBase, allow = [], signatures = unsigned }: RequestSample = {}): RebaseRequest {
  return {
    application: image('shop/web', { tag: '1.2.3', layers: 'os java1 app', ...application }),
    oldBases: [image('library/java', { tag: '21.0.1', layers: 'os java1', ...oldBase })],
    newBase: image('library/java', { tag: '21.0.2', layers: 'os java2 patch', ...newBase }),
    allow,
    signatures,
  };
}
