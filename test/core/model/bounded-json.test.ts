/** JSON of registries and images, of which tenants choose the registry. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parseBoundedJson } from '../../../src/core/model/bounded-json.ts';
import { parseImageConfig, parseManifest } from '../../../src/service/registry/parse-manifest.ts';

const digest = `sha256:${'a'.repeat(64)}`;

describe('bounded JSON', () => {
  for (const value of [{ a: [1, 'x,[{"', { b: null }], 'é\\"': '\u2028' }, [], 'text', 7, null, { deep: [[[[[[[]]]]]]] }])
    it(`is parsed as JSON is: ${JSON.stringify(value)}`, () => {
      assert.deepEqual(parseBoundedJson(JSON.stringify(value)), value);
      assert.deepEqual(parseBoundedJson(Buffer.from(JSON.stringify(value))), value);
    });

  for (const [name, json, expected] of [
    ['lists in lists', '['.repeat(65) + ']'.repeat(65), /deeper than 64/],
    ['objects in objects', '{"a":'.repeat(65) + '1' + '}'.repeat(65), /deeper than 64/],
    ['lists without an end', '['.repeat(1_000_000), /more than|deeper/],
    ['a text', `"${'a'.repeat(2 * 1024 * 1024)}"`, /larger than 2097152 bytes/],
    ['values', `[${'1,'.repeat(16_384)}1]`, /more than 16384/],
    ['names', `{${Array.from({ length: 16_386 }, (_, index) => `"${index}":1`).join(',')}}`, /more than 16384/],
  ] as const)
    it(`is refused before it is parsed: ${name}`, () => assert.throws(() => parseBoundedJson(json), expected));

  it('does not count brackets and commas inside strings', () =>
    assert.deepEqual(parseBoundedJson(`["${'[{,'.repeat(100_000)}"]`), ['[{,'.repeat(100_000)]));

  it('is used to parse manifests and image configurations', () => {
    const huge = Array.from({ length: 40_000 }, () => 1);
    assert.equal(parseManifest(Buffer.from(JSON.stringify({ schemaVersion: 2, layers: [], huge }))), undefined);
    assert.deepEqual(parseImageConfig(Buffer.from(JSON.stringify({ os: 'linux', architecture: 'amd64', huge }))), {});
  });

  it('leaves out more annotations or labels than any image has', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`name-${index}`, 'a']));
    const read = (count: number) => [
      parseManifest(Buffer.from(JSON.stringify({ schemaVersion: 2, annotations: many(count) })))?.annotations,
      parseImageConfig(Buffer.from(JSON.stringify({ config: { Labels: many(count) } }))).config?.Labels,
    ];
    assert.deepEqual(read(4_096), [many(4_096), many(4_096)]);
    assert.deepEqual(read(4_097), [undefined, undefined]);
  });

  it('has room for a page of a thousand referrers, and for an image of 512 layers', () => {
    const entry = {
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      artifactType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
      digest,
      size: 1,
      annotations: Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => [name, name])),
    };
    const manifests = Array.from({ length: 1_000 }, () => entry);
    assert.equal(parseManifest(Buffer.from(JSON.stringify({ schemaVersion: 2, manifests })))?.manifests?.length, 1_000);
    const diffs = Array.from({ length: 512 }, () => digest);
    const history = diffs.map((created_by) => ({ created: '2026-01-01T00:00:00Z', created_by, comment: 'buildkit', empty_layer: true }));
    const config = Buffer.from(JSON.stringify({ rootfs: { type: 'layers', diff_ids: diffs }, history }));
    assert.equal(parseImageConfig(config).rootfs?.diff_ids.length, 512);
  });

  it('is used for all JSON that comes from registries', () => {
    // Tag lists in pieces; the others are files and tokens of the operator, and texts of Redis whose size is checked.
    const others = [
      'service/registry/tag-page.ts',
      'service/registry/credentials/',
      'bases/recognize/facts.ts',
      'bases/record/kept-dependents.ts',
      'service/verify/trust.ts',
    ];
    const files = ['service/registry', 'service/verify', 'service/vulnerabilities', 'bases'].flatMap((room) =>
      globSync(`src/${room}/**/*.ts`),
    );
    const found = files.filter((file) => readFileSync(file, 'utf8').includes('JSON.parse('));
    assert.ok(files.length > 50);
    assert.deepEqual(
      found.filter((file) => !others.some((other) => file.startsWith(`src/${other}`))),
      [],
    );
  });
});
