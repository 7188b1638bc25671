import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError } from '../../../src/core/model/errors.ts';
import { reconcilePolicy } from '../../../src/service/reconcile/reconcile-policy.ts';
import type { Ports } from '../../../src/service/reconcile/ports.ts';
import { policyOf } from '../../core/model/samples.ts';
import { createWorld, withPorts } from './world.ts';

const { namespace, name, uid } = policyOf();
const denied = () => Promise.reject(new PermanentError('RegistryDenied', 'no access'));

/** A look at a policy whose credentials the registry refuses while `isRefused` says so. */
function reconcileWithSecrets(secretVersions: () => string, isRefused = () => true) {
  const { ports } = createWorld();
  const headManifest: Ports['registry']['headManifest'] = (...question) =>
    isRefused() ? denied() : ports.registry.headManifest(...question);
  const request = { policy: { namespace, name, uid }, announced: false };
  return reconcilePolicy(
    request,
    withPorts(ports, { registry: { headManifest }, policies: { secretVersions } }),
    new AbortController().signal,
  );
}

test('a refusal of credentials that have changed during the request is not final, and the reconcile repeats the request', async () => {
  let version = 1;
  const outcome = await reconcileWithSecrets(
    () => String(version),
    () => version++ === 1,
  );
  assert.equal(outcome.kind, 'updated');
});

test('a refusal of the current credentials stalls the policy', async () => {
  const { kind, reason } = await reconcileWithSecrets(() => '1');
  assert.deepEqual([kind, reason], ['stalled', 'RegistryDenied']);
});

test('a reconcile whose credentials change during each of five attempts is postponed', async () => {
  let changes = 0;
  await assert.rejects(
    reconcileWithSecrets(() => String(changes++)),
    /changed during 5 attempts in a row: its Secrets/,
  );
});
