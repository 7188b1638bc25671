/** The object that names the repository of a chart is read again before each try of a patch: it must be the one that was planned with, and its owners must consent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confirmSource } from '../../../src/service/reconcile/consents.ts';
import { workloadOf } from '../../core/model/samples.ts';
import { createWorld } from './world.ts';

const source = {
  apiVersion: 'source.toolkit.fluxcd.io/v1',
  kind: 'HelmRepository',
  namespace: 'shop',
  name: 'charts',
  uid: 'uid-of-charts',
  generation: 3,
};
const foreign = { ...source, namespace: 'flux' };
const held = workloadOf({}, { ...source });
const heldElsewhere = workloadOf({}, { ...foreign });

const rows: [name: string, asked: typeof source, read: typeof held | undefined, isConfirmed: boolean, onNamespace?: string][] = [
  ['as it was', source, held, true],
  ['with another spec', source, { ...held, generation: 4 }, false],
  ['created again', source, { ...held, uid: 'another' }, false],
  ['being deleted', source, { ...held, isDeleted: true }, false],
  ['gone', source, undefined, false],
  ['of another namespace, without consent', foreign, heldElsewhere, false],
  ['of another namespace, with its own consent', foreign, { ...heldElsewhere, allowPoliciesFrom: 'shop' }, true],
  ['of another namespace, with consent for others', foreign, { ...heldElsewhere, allowPoliciesFrom: 'ops' }, false, 'shop'],
  ['of another namespace, with the consent of its Namespace', foreign, heldElsewhere, true, 'shop'],
  ['of another namespace, with consent and another spec', foreign, { ...heldElsewhere, generation: 4 }, false, 'shop'],
];
for (const [name, asked, read, isConfirmed, onNamespace] of rows) {
  test(`a source ${name} is ${isConfirmed ? '' : 'not '}confirmed`, async () => {
    const { ports } = createWorld();
    const workloads = { ...ports.workloads, read: async () => read, readConsent: async () => onNamespace ?? null };
    const asking = { policy: { namespace: 'shop' }, cluster: { crossNamespace: 'consent' as const }, signal: new AbortController().signal };
    assert.equal((await confirmSource(asked, asking, workloads)) !== undefined, isConfirmed);
  });
}
