/** What a rebased image says of its base, in its own format. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configOf, manifestOf, plan } from './planned.ts';
import { digestFor, request, type RequestSample } from './samples.ts';

describe('in a rebased image', () => {
  test("labels of Docker's format name the new base, because its manifests have no annotations", () => {
    const planned = plan({ application: { isDocker: true }, oldBase: { isDocker: true }, newBase: { isDocker: true } });
    assert.deepEqual(Object.keys(manifestOf(planned)).toSorted(), ['config', 'layers', 'mediaType', 'schemaVersion']);
    const labels = configOf(planned).config?.Labels ?? {};
    assert.equal(labels['org.opencontainers.image.base.name'], 'registry.example.com/library/java:21.0.2');
    assert.match(labels['operator.technomad.dev/rebased-from'] ?? '', /^registry\.example\.com\/shop\/web@sha256:/);
  });

  test('labels that name the old base are rewritten, also in the format of OCI', () => {
    const labels = {
      'org.opencontainers.image.base.digest': digestFor('old'),
      'io.buildpacks.lifecycle.metadata': '{"a":1,"runImage":{"image":"x","topLayer":"old"}}',
    };
    const merged = configOf(plan({ application: { config: { Labels: labels } } })).config?.Labels ?? {};
    assert.equal(merged['org.opencontainers.image.base.digest'], request().newBase.digest);
    const { runImage, a } = JSON.parse(merged['io.buildpacks.lifecycle.metadata'] ?? '') as { a: number; runImage: Record<string, string> };
    assert.equal(a, 1);
    assert.deepEqual(runImage, {
      image: 'x',
      topLayer: digestFor('patch linux/amd64'),
      reference: `registry.example.com/library/java@${request().newBase.digest}`,
    });
  });

  test('annotations that name a base in between stay, and annotations that name the old base name the new one', () => {
    const named = (name: string, digest: string) => {
      const annotations = { 'org.opencontainers.image.base.name': name, 'org.opencontainers.image.base.digest': digest };
      const { annotations: found = {} } = manifestOf(plan({ application: { annotations } }));
      assert.match(found?.['operator.technomad.dev/rebased-from'] ?? '', /^registry\.example\.com\/shop\/web@sha256:/);
      return [found?.['org.opencontainers.image.base.name'], found?.['org.opencontainers.image.base.digest']];
    };
    const framework = ['registry.example.com/library/framework:3.1.0', digestFor('framework')] as const;
    assert.deepEqual(named(...framework), framework);
    const { oldBases, newBase } = request();
    const next = ['registry.example.com/library/java:21.0.2', newBase.digest];
    for (const name of ['registry.example.com/library/java:21.0.1', 'mirror.example.com/java:21.0.1'])
      assert.deepEqual(named(name, oldBases[0]?.digest ?? ''), next);
  });

  test('layers get the media types of the application', () => {
    const docker = { isDocker: true };
    const layers = (sample: RequestSample) => manifestOf(plan(sample)).layers.map(({ mediaType }) => mediaType);
    assert.deepEqual(new Set(layers({ newBase: docker })), new Set(['application/vnd.oci.image.layer.v1.tar+gzip']));
    assert.deepEqual(
      new Set(layers({ application: docker, oldBase: docker })),
      new Set(['application/vnd.docker.image.rootfs.diff.tar.gzip']),
    );
  });
});
