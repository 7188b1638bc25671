/** crd/samples: what people copy must be right, and show every field. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { customResourceDefinition } from '../../../src/conversion/definition.ts';
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import { readNotificationTarget } from '../../../src/notify/resource/read-target.ts';
import { lintText } from '../../../src/cli/lint/lint-text.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { installCrd, installPlainCrds, plainPath, policiesPath } from './install-crd.ts';
import { type AddedDefinition } from '../../../src/service/resources/definitions.ts';
import { addedDefinition, resources } from '../../harness/resource-group.ts';

const folder = join(import.meta.dirname, '../../../crd/samples');
const samples = globSync('*.yaml', { cwd: folder })
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }));

interface Policy {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly spec: object;
}

const readers: Readonly<Record<string, (raw: unknown) => { readonly spec: object }>> = {
  BaseImagePolicy: (raw) => readBasePolicy(raw, { aliases: new Map(), customTargets: [], verifiesApprovers: true }),
  NotificationTarget: readNotificationTarget,
};

for (const { file, text } of samples) {
  test(`the sample ${file} says what it is for, and is valid`, () => {
    assert.match(text, /^(?:# .*\n)+apiVersion: /);
    const { policies, others, problems, warnings } = lintText(text, resources);
    assert.deepEqual([policies, others, problems, warnings], [1, 0, [], undefined]);
  });
}

describe('the API server accepts', () => {
  let cluster: ControlPlane;
  before(async () => {
    cluster = await borrowControlPlane();
    await installCrd(cluster, ['v1', 'v1alpha1']);
    await installPlainCrds(cluster);
  });
  after(() => cluster.stop());

  for (const { file, text } of samples) {
    test(`the sample ${file}`, async () => {
      const policy = parse(text) as Policy;
      const namespace = await cluster.namespace('samples');
      if (policy.kind !== 'ImagePolicy') {
        const body = { ...policy, metadata: { ...policy.metadata, namespace } };
        const stored = await cluster.request('POST', `${plainPath(policy.kind, namespace)}?fieldValidation=Strict`, body);
        const { spec } = readers[policy.kind]?.(stored) ?? {};
        assert.ok(spec !== undefined && !('problem' in spec), JSON.stringify(spec));
        return;
      }
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

const fieldsOf = function* (of: Schema, path: string): Generator<string> {
  if (of.items) yield* fieldsOf(of.items, `${path}[]`);
  for (const [name, inner] of Object.entries(of.properties ?? {})) {
    yield `${path}.${name}`;
    yield* fieldsOf(inner, `${path}.${name}`);
  }
};
const writtenIn = function* (value: unknown, path: string): Generator<string> {
  if (Array.isArray(value)) for (const entry of value) yield* writtenIn(entry, `${path}[]`);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      yield `${path}.${name}`;
      yield* writtenIn(inner, `${path}.${name}`);
    }
  }
};
/** The fields of the first version that no sample of the kind shows. */
function missingFields({ spec }: ReturnType<typeof customResourceDefinition> | AddedDefinition['object']): string[] {
  const schema = JSON.parse(JSON.stringify(spec.versions[0]?.schema.openAPIV3Schema)) as Schema;
  const policies = samples.map(({ text }) => parse(text) as Policy).filter(({ kind }) => kind === spec.names.kind);
  const shown = new Set(policies.flatMap((policy) => [...writtenIn(policy.spec, 'spec')]));
  assert.ok(shown.size > 10);
  return [...fieldsOf(schema.properties?.['spec'] ?? {}, 'spec')].filter((field) => !shown.has(field)).toSorted();
}

test('a sample exists for every field of v1', () => {
  const unusual = ['spec.select.semver.prereleases', 'spec.rollout.watch'];
  const ofBases = ['spec.select.replace', 'spec.select.replace.from', 'spec.select.replace.to'];
  assert.deepEqual(
    missingFields(customResourceDefinition()).filter((field) => !field.startsWith('spec.rollout.waves.canaries.matchExpressions')),
    [...unusual, ...ofBases, 'spec.targets[].fields.image', 'spec.targets[].fields.repository'].toSorted(),
  );
});

test('a sample exists for every field of NotificationTarget', () => {
  assert.deepEqual(missingFields(addedDefinition('NotificationTarget').object), []);
});

test('a sample exists for every field of BaseImagePolicy that ImagePolicy does not have', () => {
  // The samples of ImagePolicy show what both have; the reference shows each CI system.
  const ofBoth = /^spec\.(?:select|tags|platforms|pullSecrets|verify|poll|suspend|windows)\b/;
  const ofSystems = /^spec\.onNewBase\[\]\.trigger\.(?:gitlab|gitea|tekton|jenkins|webhook|github\.(?:url|workflow|ref))\b/;
  const selectors = /[sS]elector\.matchExpressions\b|canaries\.matchExpressions\b/;
  assert.deepEqual(
    missingFields(addedDefinition('BaseImagePolicy').object).filter(
      (field) => ![ofBoth, ofSystems, selectors].some((known) => known.test(field)),
    ),
    [],
  );
});
