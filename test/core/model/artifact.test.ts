import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isArtifactTag, type ManifestParts, whyNotRunnable } from '../../../src/core/model/artifact.ts';

const hex = 'a'.repeat(64);
const artifactTags: [tag: string, expected: boolean][] = [
  [`sha256-${hex}`, true],
  [`sha256-${hex}.sig`, true],
  [`sha256-${hex}.att`, true],
  [`sha256-${hex}.sbom`, true],
  [`sha512-${hex}`, true],
  ['sha256-not-a-digest', false],
  [`sha256-${hex.slice(1)}`, false],
  [`v1-sha256-${hex}`, false],
  ['1.2.3', false],
];
for (const [tag, expected] of artifactTags)
  test(`${tag} is ${expected ? 'the tag of an artifact' : 'a tag'}`, () => assert.equal(isArtifactTag(tag), expected));

const oci = 'application/vnd.oci.image.manifest.v1+json';
const config = { mediaType: 'application/vnd.oci.image.config.v1+json' };
const layer = { mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip' };
const linux = { mediaType: oci, platform: { os: 'linux' } };
const attestation = { mediaType: oci, platform: { os: 'unknown' }, annotations: { 'vnd.docker.reference.type': 'attestation-manifest' } };

const manifests: [name: string, manifest: ManifestParts, why: RegExp | undefined][] = [
  ['an image', { config, layers: [layer] }, undefined],
  [
    'an image of Docker',
    {
      config: { mediaType: 'application/vnd.docker.container.image.v1+json' },
      layers: [{ mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip' }],
    },
    undefined,
  ],
  ['an image without layers', { config, layers: [] }, undefined],
  ['an image with a layer of another type', { config, layers: [layer, { mediaType: 'text/plain' }] }, undefined],
  ['an image in zstd', { config, layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar+zstd' }] }, undefined],
  ['WebAssembly', { config: { mediaType: 'application/vnd.wasm.config.v0+json' }, layers: [{ mediaType: 'application/wasm' }] }, undefined],
  [
    'a chart',
    { config: { mediaType: 'application/vnd.cncf.helm.config.v1+json' } },
    /^its configuration is of the type application\/vnd\.cncf\.helm/,
  ],
  [
    'a signature of cosign 2',
    { config, layers: [{ mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json' }] },
    /^its content is of the type .*simplesigning/,
  ],
  [
    'an artifact',
    { artifactType: 'application/vnd.example', config: { mediaType: 'application/vnd.oci.empty.v1+json' } },
    /^it is an artifact of the type application\/vnd\.example$/,
  ],
  [
    'an SBOM with the configuration of an image',
    { artifactType: 'application/spdx+json', config },
    /artifact of the type application\/spdx/,
  ],
  ['a plugin of Docker', { config: { mediaType: 'application/vnd.docker.plugin.v1+json' } }, /docker\.plugin/],
  ['a type of many lines', { artifactType: `a\n\u202e${'b'.repeat(4_000)}` }, /^it is an artifact of the type a b{98}$/],
  ['nothing', {}, /^it has no configuration$/],
  ['a configuration of no type', { config: {} }, /^its configuration is of the type that it does not say$/],
  ['an index', { manifests: [linux] }, undefined],
  ['an index with attestations', { manifests: [attestation, linux] }, undefined],
  ['an index that does not say its platforms', { manifests: [{ mediaType: oci }] }, undefined],
  ['an index of attestations', { manifests: [attestation] }, /^it is an index without an image$/],
  [
    'an index of artifacts, as the fallback of referrers',
    { manifests: [{ mediaType: oci, artifactType: 'application/vnd.example' }] },
    /index without an image/,
  ],
  ['an index of files', { manifests: [{ mediaType: 'text/plain' }] }, /index without an image/],
  ['an empty index', { manifests: [] }, /index without an image/],
  ['an index that is an artifact', { artifactType: 'application/vnd.example', manifests: [linux] }, /artifact of the type/],
];
for (const [name, manifest, why] of manifests) {
  test(`${name} is ${why === undefined ? 'an image' : 'not an image'}`, () => {
    const found = whyNotRunnable(manifest);
    if (why === undefined) assert.equal(found, undefined);
    else assert.match(found ?? 'an image', why);
  });
}
