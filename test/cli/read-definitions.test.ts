/** The definitions that the doctor reads: those of crd/, all of them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { readAdded } from '../../src/cli/doctor/read-definitions.ts';
import { definition } from '../../src/service/doctor/checks/definition.ts';
import type { CustomResourceDefinition } from '../../src/service/kube/crd/definition.ts';
import { resources } from '../harness/resource-group.ts';

const folder = new URL('../../crd/', import.meta.url);
const shipped = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => parse(readFileSync(new URL(file, folder), 'utf8')) as CustomResourceDefinition & { spec: { names: { kind: string } } });
const policies = shipped.find(({ spec }) => spec.names.kind === 'ImagePolicy');

test('the definition of every kind in crd/ is compared with the installed one', async () => {
  assert.ok(policies);
  const { versions: expected } = resources.policyDefinition(policies).spec;
  const examine = async (cluster: readonly CustomResourceDefinition[]) => {
    const added = await readAdded(resources.kinds, async (name) => cluster.find(({ metadata }) => metadata.name === name));
    return definition.evaluate({ installed: policies, expected, added, reads: [] });
  };
  const findings = await examine(shipped);
  for (const { metadata, spec } of shipped) {
    const { kind } = spec.names;
    const of = kind === 'ImagePolicy' ? 'the CustomResourceDefinition' : `the CustomResourceDefinition of ${kind}`;
    const current = findings.filter(({ level, message }) => level === 'ok' && message === `${of} is the one of this program`);
    assert.equal(current.length, 1, `crd/ has ${kind}, which the doctor does not compare`);
    if (kind === 'ImagePolicy') continue;
    const without = await examine(shipped.filter((one) => one.metadata.name !== metadata.name));
    assert.ok(without.some(({ level, message }) => level !== 'ok' && message.startsWith(`${of} is not installed: `)));
  }
});
