import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { BuildRecords, Texts } from '../../../src/bases/recognize/evidence/evidence.ts';
import { evidence } from '../../../src/bases/recognize/evidence/index.ts';
import { predicateRank } from '../../../src/bases/recognize/evidence/provenance.ts';
import type { NamedBase } from '../../../src/bases/recognize/facts.ts';
import { digestFor, repository } from './samples.ts';

const digest = digestFor('base');
const hex = digest.replace('sha256:', '');
const nameKey = 'org.opencontainers.image.base.name';
const digestKey = 'org.opencontainers.image.base.digest';
const packsKey = 'io.buildpacks.lifecycle.metadata';

const find = (records: Partial<BuildRecords>) =>
  evidence.flatMap((one) =>
    one.find({ annotations: [], labels: {}, statements: [], aliases: new Map([['mirror.example.com', 'harbor.example.com']]), ...records }),
  );
const runImage = (value: unknown): Texts => ({ [packsKey]: JSON.stringify({ app: [], runImage: value }) });
const statement = (predicateType: string, predicate: unknown) => ({
  _type: 'https://in-toto.io/Statement/v1',
  subject: [],
  predicateType,
  predicate,
});
const slsa02 = (materials: unknown) => statement('https://slsa.dev/provenance/v0.2', { materials });
const slsa1 = (resolvedDependencies: unknown) => statement('https://slsa.dev/provenance/v1', { buildDefinition: { resolvedDependencies } });
const spdx = (purl: string, relationshipType = 'DESCENDANT_OF') =>
  statement('https://spdx.dev/Document/v2.3', {
    packages: [
      7,
      {
        SPDXID: 'SPDXRef-base',
        externalRefs: [
          { referenceType: 'cpe23Type', referenceLocator: 'cpe' },
          { referenceType: 'purl', referenceLocator: purl },
        ],
      },
    ],
    relationships: [{ spdxElementId: 'SPDXRef-app', relationshipType, relatedSpdxElement: 'SPDXRef-base' }],
  });
const cycloneDx = (purl: string) =>
  statement('https://cyclonedx.org/bom/v1.6', { metadata: { component: { pedigree: { ancestors: [{ purl }] } } } });

const byAnnotation: NamedBase = { by: 'Annotation', repository, digest };
const byPacks: NamedBase = { by: 'Buildpacks', repository, digest, topLayer: digestFor('top') };
const byProvenance: NamedBase = { by: 'Provenance', repository, digest };
const input = (uri: string, hashes: unknown = { sha256: hex }) => ({ statements: [slsa02([{ uri, digest: hashes }])] });

const rows: [name: string, records: Partial<BuildRecords>, expected: NamedBase[]][] = [
  ['nothing', {}, []],
  [
    'annotations with name and digest',
    { annotations: [{ [nameKey]: `${repository}:21`, [digestKey]: digest }] },
    [{ ...byAnnotation, tag: '21' }],
  ],
  ['labels', { labels: { [nameKey]: repository, [digestKey]: ` ${digest} ` } }, [byAnnotation]],
  [
    'annotations before labels',
    { annotations: [{ [digestKey]: digest }, {}], labels: { [nameKey]: repository } },
    [
      { by: 'Annotation', digest },
      { by: 'Annotation', repository },
    ],
  ],
  ['the digest in the name', { labels: { [nameKey]: `${repository}:21@${digest}` } }, [{ ...byAnnotation, tag: '21' }]],
  ['a short name of Docker Hub', { labels: { [nameKey]: 'ubuntu' } }, [{ by: 'Annotation', repository: 'docker.io/library/ubuntu' }]],
  ['an alias of the registry', { labels: { [nameKey]: 'mirror.example.com/library/base-java' } }, [{ by: 'Annotation', repository }]],
  ['a digest that is none', { labels: { [nameKey]: repository, [digestKey]: 'sha256:abc' } }, [{ by: 'Annotation', repository }]],
  ['a name that is none', { labels: { [nameKey]: 'https://a b', [digestKey]: digest } }, [{ by: 'Annotation', digest }]],
  ['neither', { labels: { [nameKey]: '', [digestKey]: '' } }, []],
  ['a run image', { labels: runImage({ topLayer: digestFor('top'), reference: `${repository}@${digest}`, image: 'run' }) }, [byPacks]],
  [
    'a run image of the local daemon',
    { labels: runImage({ topLayer: digestFor('top'), reference: digest, image: `${repository}:run` }) },
    [{ by: 'Buildpacks', repository, tag: 'run', topLayer: digestFor('top') }],
  ],
  [
    'a run image with the last layer only',
    { labels: runImage({ topLayer: digestFor('top') }) },
    [{ by: 'Buildpacks', topLayer: digestFor('top') }],
  ],
  ['a run image of other types', { labels: runImage({ topLayer: 7, reference: [], image: null }) }, []],
  ['no run image', { labels: runImage(undefined) }, []],
  ['a label that is no JSON', { labels: { [packsKey]: '{' } }, []],
  ['a label that is too large', { labels: { [packsKey]: `${' '.repeat(1_048_576)}${runImage({ topLayer: digest })[packsKey]}` } }, []],
  [
    'a material of BuildKit',
    input('pkg:docker/harbor.example.com/library/base-java@21?platform=linux%2Famd64'),
    [{ ...byProvenance, tag: '21' }],
  ],
  [
    'a material of BuildKit by digest',
    input(`pkg:docker/harbor.example.com/library/base-java?digest=${digest}&platform=linux%2Famd64`),
    [byProvenance],
  ],
  [
    'a material of Docker Hub',
    input('pkg:docker/ubuntu@24.04'),
    [{ by: 'Provenance', repository: 'docker.io/library/ubuntu', tag: '24.04', digest }],
  ],
  [
    'an OCI package',
    input(`pkg:oci/base-java@sha256%3A${hex}?repository_url=${repository}&tag=21`, undefined),
    [{ ...byProvenance, tag: '21' }],
  ],
  ['an OCI package without a registry', input(`pkg:oci/base-java@${digest}`), [{ by: 'Provenance', digest }]],
  [
    'a resolved dependency',
    {
      statements: [
        slsa1([
          { uri: `oci://${repository}`, digest: { sha256: hex } },
          { uri: 'git+https://example.com/app', digest: { sha1: 'a' } },
        ]),
      ],
    },
    [byProvenance],
  ],
  [
    'the attestation of a dependency',
    {
      statements: [
        slsa1([
          { uri: `oci://${repository}`, digest: { sha256: hex } },
          {
            uri: `oci://${repository}@${digestFor('sbom')}`,
            digest: { sha256: digestFor('sbom').slice(7) },
            annotations: { 'in-toto.io/predicate-type': 'https://spdx.dev/Document' },
          },
        ]),
      ],
    },
    [byProvenance],
  ],
  [
    'a dependency by its reference',
    { statements: [slsa1([{ uri: `docker-image://${repository}:21@${digest}` }])] },
    [{ ...byProvenance, tag: '21' }],
  ],
  [
    'sources and files',
    {
      statements: [
        slsa02([
          { uri: 'git+https://example.com/app', digest: { sha256: hex } },
          { uri: 'https://example.com/file', digest: { sha256: hex } },
        ]),
      ],
    },
    [],
  ],
  ['an image without a digest', input('pkg:docker/ubuntu@24.04', {}), []],
  ['a digest of another length', input('pkg:docker/ubuntu@24.04', { sha256: 'abc' }), []],
  ['a package URL with a broken escape', input('pkg:docker/ubuntu%zz@24.04'), [{ by: 'Provenance', digest }]],
  ['materials of other shapes', { statements: [slsa02([7, null, { uri: 7 }, { digest: {} }]), slsa02('none'), slsa1(undefined)] }, []],
  ['no statement', { statements: [undefined, 7, [], {}, { ...slsa02([]), _type: 'other' }] }, []],
  ['an SBOM of SPDX with an ancestor', { statements: [spdx(`pkg:oci/base-java@${digest}?repository_url=${repository}`)] }, [byProvenance]],
  [
    'an SBOM of SPDX with a package only',
    { statements: [spdx(`pkg:oci/base-java@${digest}?repository_url=${repository}`, 'CONTAINS')] },
    [],
  ],
  [
    'an SBOM of CycloneDX with an ancestor',
    { statements: [cycloneDx(`pkg:oci/base-java@${digest}?repository_url=${repository}`)] },
    [byProvenance],
  ],
  ['an SBOM of CycloneDX without one', { statements: [statement('https://cyclonedx.org/bom', { components: [] })] }, []],
  [
    'another predicate',
    { statements: [statement('https://example.com/test-results', { materials: [{ uri: 'pkg:docker/ubuntu', digest: { sha256: hex } }] })] },
    [],
  ],
];

for (const [name, records, expected] of rows)
  test(`the records of a build name the expected bases: ${name}`, () => assert.deepEqual(find(records), expected));

test('bases that annotations name come first, then those of buildpacks, then those of provenance', () => {
  const labels = { ...runImage({ topLayer: digestFor('top') }), [nameKey]: repository };
  assert.deepEqual(
    find({ labels, ...input(`oci://${repository}`) }).map(({ by }) => by),
    ['Annotation', 'Buildpacks', 'Provenance'],
  );
});

test('at most 16 inputs of a build are kept as possible bases', () => {
  const many = Array.from({ length: 1_000 }, (_, index) => ({ uri: `pkg:docker/image-${index}`, digest: { sha256: hex } }));
  assert.equal(find({ statements: [slsa02(many)] }).length, 16);
});

test('only the first 2,000 inputs of a build are checked', () => {
  const padded = (count: number) =>
    find({ statements: [slsa02([...Array.from({ length: count }, () => 7), { uri: 'pkg:docker/a', digest: { sha256: hex } }])] });
  assert.equal(padded(1_999).length, 1);
  assert.equal(padded(2_000).length, 0);
});

test('of the thousands of images that a statement names, only the first 16 are read', (t) => {
  const { mock } = t.mock.method(URL, 'canParse');
  const uris = Array.from({ length: 2_000 }, (_, index) => `pkg:docker/a-${index}`);
  find({ statements: [slsa02(uris.map((uri) => ({ uri })))] });
  const sbom = {
    packages: [{ SPDXID: 'base', externalRefs: uris.map((referenceLocator) => ({ referenceType: 'purl', referenceLocator })) }],
    relationships: [{ relationshipType: 'DESCENDANT_OF', relatedSpdxElement: 'base' }],
  };
  find({ statements: [{ _type: 'https://in-toto.io/Statement/v1', predicateType: 'https://spdx.dev/Document', predicate: sbom }] });
  assert.equal(mock.callCount(), 32);
});

test('provenance is read before SBOMs, and nothing else is read', () => {
  const rank = (type: string) => predicateRank(type) ?? Number.NaN;
  assert.ok(rank('https://slsa.dev/provenance/v0.2') < rank('https://spdx.dev/Document'));
  assert.ok(rank('https://slsa.dev/provenance/v1') < rank('https://cyclonedx.org/bom/v1.6'));
  assert.equal(predicateRank('https://in-toto.io/attestation/vulns'), undefined);
});

test('reading the records of a build never throws, whatever they contain', () => {
  const texts = fc.dictionary(fc.constantFrom(nameKey, digestKey, packsKey), fc.oneof(fc.string(), fc.json()));
  const statements = fc.array(
    fc.oneof(fc.anything(), fc.anything().map(slsa02), fc.array(fc.record({ uri: fc.webUrl(), digest: fc.anything() })).map(slsa1)),
  );
  fc.assert(fc.property(texts, texts, statements, (one, labels, statements) => void find({ annotations: [one], labels, statements })));
});
