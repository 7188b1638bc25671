/** crd/samples: what people copy must be right, and show every field. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { customResourceDefinition } from '../../src/api-versions/crd.ts';
import { lintText } from '../../src/cli/lint/lint-text.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { installCrd, policiesPath } from './install-crd.ts';

const folder = join(import.meta.dirname, '../../crd/samples');
const samples = globSync('*.yaml', { cwd: folder })
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }));

interface Policy {
  readonly apiVersion: string;
  readonly metadata: object;
  readonly spec: object;
}

for (const { file, text } of samples) {
  test(`${file} says what it is for, and is valid`, () => {
    assert.match(text, /^(?:# .*\n)+apiVersion: /);
    assert.deepEqual(lintText(text), { policies: 1, others: 0, problems: [] });
  });
}

describe('the API server takes', () => {
  let cluster: ControlPlane;
  before(async () => {
    cluster = await borrowControlPlane();
    await installCrd(cluster, ['v1', 'v1alpha1']);
  });
  after(() => cluster.stop());

  for (const { file, text } of samples) {
    test(`the sample ${file}`, async () => {
      const policy = parse(text) as Policy;
      const namespace = await cluster.namespace('samples');
      const path = policiesPath(namespace, policy.apiVersion.split('/')[1] ?? '');
      // Without conversion, what is stored has the shape of one version only: nothing is.
      const body = { ...policy, metadata: { ...policy.metadata, namespace } };
      await cluster.request('POST', `${path}?fieldValidation=Strict&dryRun=All`, body);
    });
  }
});

interface Schema {
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
}

test('a sample exists for every field of v1', () => {
  const schema = JSON.parse(JSON.stringify(customResourceDefinition().spec.versions[0]?.schema.openAPIV3Schema)) as Schema;
  const fields = function* (of: Schema, path: string): Generator<string> {
    if (of.items) yield* fields(of.items, `${path}[]`);
    for (const [name, inner] of Object.entries(of.properties ?? {})) {
      yield `${path}.${name}`;
      yield* fields(inner, `${path}.${name}`);
    }
  };
  const written = function* (value: unknown, path: string): Generator<string> {
    if (Array.isArray(value)) for (const entry of value) yield* written(entry, `${path}[]`);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        yield `${path}.${name}`;
        yield* written(inner, `${path}.${name}`);
      }
    }
  };
  const shown = new Set(samples.flatMap(({ text }) => [...written((parse(text) as Policy).spec, 'spec')]));
  const unusual = ['spec.select.semver.prereleases', 'spec.select.alphabetical.order', 'spec.select.numerical.order', 'spec.rollout.watch'];
  const ofBases = ['spec.select.replace', 'spec.select.replace.from', 'spec.select.replace.to'];
  const missing = [...fields(schema.properties?.['spec'] ?? {}, 'spec')].filter((field) => !shown.has(field));
  assert.ok(shown.size > 40);
  assert.deepEqual(
    missing.toSorted(),
    [...unusual, ...ofBases, 'spec.targets[].fields.image', 'spec.targets[].fields.repository'].toSorted(),
  );
});
