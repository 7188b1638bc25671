/** What a BaseImagePolicy says of a push to a repository that its credentials have not read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError } from '../../../src/core/model/errors.ts';
import { formatRepository } from '../../../src/core/model/image-reference.ts';
import { digestOf } from '../../core/model/samples.ts';
import { createReplica, jobOf } from './replica.ts';

const pushed = { registry: 'harbor.example.com', path: 'others/app' };
const base = { registry: 'harbor.example.com', path: 'library/java' };
const [tag, digest] = ['7.7.7-secret', digestOf('f')];
const named = `${formatRepository(pushed)}:${tag}`;

for (const hasRead of [false, true])
  test(`a status ${hasRead ? 'names' : 'does not name'} a pushed application that the policy ${hasRead ? 'has' : 'has not'} read before`, async () => {
    const replica = createReplica({ registry: { hasRead: async () => hasRead } });
    const job = jobOf('TargetChange', { pushed, hint: { tag, digest } });
    await assert.rejects(replica.process(job), { reason: 'NotShownYet' });
    const said = JSON.stringify([replica.status(), replica.events]);
    assert.equal(said.includes(tag), hasRead, said);
  });

test('an application that the policy may not read neither stops the reconcile nor appears in the status', async () => {
  const replica = createReplica({
    registry: {
      hasRead: async ({ path }) => path !== pushed.path,
      headManifest: async ({ path }) => {
        if (path === pushed.path) throw new PermanentError('RegistryDenied', `HEAD manifest of ${named}: no access`);
        return { digest: digestOf('a') };
      },
    },
  });
  await replica.process(jobOf('TargetChange', { pushed, hint: { tag, digest } }));
  assert.equal(replica.status().latest?.digest, digestOf('a'));
  const said = JSON.stringify([replica.status(), replica.events]);
  assert.ok(!said.includes(tag), said);
});

test('a push to a repository that the policy does not name any more is not looked up in its new repository', async () => {
  const replica = createReplica();
  const hint = { tag, digest, repository: pushed };
  await replica.process(jobOf('Webhook', { hint, cause: 'push:1', eventId: '1' }));
  assert.ok(!replica.requests.includes(`HEAD ${tag}`));
  assert.ok(!JSON.stringify([replica.status(), replica.events]).includes(tag));
  await assert.rejects(replica.process(jobOf('Webhook', { hint: { ...hint, repository: base }, cause: 'push:2' })), {
    reason: 'NotShownYet',
  });
});
