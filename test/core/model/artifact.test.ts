import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  artifacts,
  isArtifactTag,
  isProofType,
  type ManifestParts,
  whyNotRunnable,
  whyUnusable,
} from '../../../src/core/model/artifact.ts';

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

const chartConfig = { mediaType: 'application/vnd.cncf.helm.config.v1+json' };
const chartContent = { mediaType: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip' };
const provenance = { mediaType: 'application/vnd.cncf.helm.chart.provenance.v1.prov' };
const usable: [name: string, manifest: ManifestParts, as: readonly string[]][] = [
  ['an image', { config, layers: [layer] }, ['Image', 'Any']],
  ['an index of images', { manifests: [attestation, linux] }, ['Image', 'Any']],
  ['a chart', { config: chartConfig, layers: [chartContent] }, ['Chart', 'Any']],
  ['a chart with its provenance', { config: chartConfig, layers: [provenance, chartContent] }, ['Chart', 'Any']],
  ['a chart that names its type', { artifactType: chartConfig.mediaType, config: chartConfig, layers: [chartContent] }, ['Chart', 'Any']],
  ['a chart without a content', { config: chartConfig, layers: [provenance] }, ['Any']],
  [
    'another artifact with the content of a chart',
    { artifactType: 'application/vnd.example', config: chartConfig, layers: [chartContent] },
    ['Any'],
  ],
  ['an image with the content of a chart', { config, layers: [chartContent] }, ['Any']],
  ['an image with the configuration of a chart', { config: chartConfig, layers: [layer] }, ['Any']],
  ['an index of charts', { manifests: [{ mediaType: oci, artifactType: chartConfig.mediaType }] }, ['Any']],
  [
    'manifests for Flux',
    {
      config: { mediaType: 'application/vnd.cncf.flux.config.v1+json' },
      layers: [{ mediaType: 'application/vnd.cncf.flux.content.v1.tar+gzip' }],
    },
    ['Any'],
  ],
  ['policies for OPA', { config: { mediaType: 'application/vnd.cncf.openpolicyagent.config.v1+json' }, layers: [] }, ['Any']],
  ['a signature of cosign 2', { config, layers: [{ mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json' }] }, []],
  [
    'a signature of cosign 3',
    { artifactType: 'application/vnd.dev.sigstore.bundle.v0.3+json', config: { mediaType: 'application/vnd.oci.empty.v1+json' } },
    [],
  ],
  [
    'a signature of Notary',
    { artifactType: 'application/vnd.cncf.notary.signature', config: { mediaType: 'application/vnd.oci.empty.v1+json' } },
    [],
  ],
  ['an SBOM', { artifactType: 'application/spdx+json', config: { mediaType: 'application/vnd.oci.empty.v1+json' } }, []],
  ['an attestation', { config: { mediaType: 'application/vnd.in-toto+json' }, layers: [] }, []],
  ['an index of attestations', { manifests: [attestation] }, []],
  ['a referrer that looks like a chart', { config: chartConfig, layers: [chartContent], subject: { digest: 'sha256:a' } }, ['Chart']],
];
for (const [name, manifest, as] of usable) {
  test(`${name} can be selected as ${as.join(' and ') || 'nothing'}`, () => {
    const unusable = whyUnusable(manifest);
    assert.deepEqual(
      artifacts.filter((artifact) => unusable[artifact] === undefined),
      as,
      JSON.stringify(unusable),
    );
  });
}

test('media types of signatures are recognised in any case, and with parameters', () => {
  assert.ok(isProofType('Application/VND.in-toto+json; charset=utf-8'));
  assert.ok(!isProofType('application/vnd.cncf.helm.config.v1+json'));
});
