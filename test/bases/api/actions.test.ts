/** The actions of users on a BaseImagePolicy: what they write, and what they refuse. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvalAnnotation, lastEditedByAnnotation } from '../../../src/core/model/named-approvals.ts';
import { digestOf } from '../../core/model/samples.ts';
import { eventTime } from '../../service/api/fake-events.ts';
import { basePolicyOf, java, newJava, sampleView } from './sample-bases.ts';
import { rights, start } from './start-bases.ts';

const one = '/bases/platform/java';
const eventTimeIso = new Date(eventTime).toISOString();

test('actions write the annotations of the commands on the BaseImagePolicy', async (t) => {
  const auth = rights('get @platform');
  const { post, patched } = start(t, auth);
  const pending = { tag: '3.2.0', digest: digestOf('d') };
  assert.equal((await post('/bases/platform/framework/approve', { ...pending, tag: '3.3.0' })).status, 409);
  const approved = await post('/bases/platform/framework/approve', pending);
  assert.deepEqual([approved.status, approved.body.requested], [202, `3.2.0@${pending.digest}`]);
  for (const action of ['release', 'check', 'suspend', 'resume']) assert.equal((await post(`${one}/${action}`)).status, 202, action);
  assert.equal((await post(`${one}/rollback`)).status, 404, 'a base is not rolled back: select another version');
  assert.equal((await post('/bases/other/node/check')).status, 403);
  assert.deepEqual(
    patched.map(({ policy, of, caller }) => [of, policy, caller]),
    [
      ['baseimagepolicies', 'platform/framework', 'token'],
      ...Array.from({ length: 4 }, () => ['baseimagepolicies', 'platform/java', 'token']),
    ],
  );
  const prefix = 'operator.technomad.dev/';
  assert.deepEqual(patched[0]?.body, {
    metadata: {
      annotations: {
        [`${prefix}approve`]: `3.2.0@${pending.digest}`,
        [`${prefix}requested-by`]: `approve 3.2.0@${pending.digest} ann`,
        [`${prefix}request-reason`]: null,
      },
    },
  });
  assert.deepEqual(patched[3]?.body, { spec: { suspend: true } });
});

test('a base is rejected with a reason, while it waits or after it was approved', async (t) => {
  const prefix = 'operator.technomad.dev/';
  const value = `${newJava.tag}@${newJava.digest}`;
  const { tag, digest } = newJava;
  const annotations = { [`${prefix}approve`]: value, [`${prefix}requested-by`]: `approve ${value} bob` };
  const written = { name: 'java', image: java, spec: { mode: 'Approval' }, annotations };
  const approved = basePolicyOf({ ...written, status: { latest: newJava } });
  const waiting = basePolicyOf({ ...written, annotations: {}, status: { latest: newJava, pendingApproval: { tag, digest } } });
  const rejectOf = (policy: typeof approved) => {
    const { post, patched } = start(t, rights('get @platform'), sampleView({ find: () => policy }));
    return { reject: (body: object) => post(`${one}/reject`, body), patched };
  };
  for (const policy of [approved, waiting]) {
    const { reject, patched } = rejectOf(policy);
    assert.equal((await reject({ tag: '21.0.6', digest: digestOf('a') })).status, 409);
    const { status, body } = await reject({ tag, digest, reason: 'breaks the login' });
    const requested = `${value} ${eventTimeIso}`;
    assert.deepEqual([status, body.requested], [202, requested]);
    assert.deepEqual(patched[0]?.body, {
      metadata: {
        annotations: {
          [`${prefix}reject`]: requested,
          [`${prefix}requested-by`]: `reject ${requested} ann`,
          [`${prefix}request-reason`]: `reject ${requested} breaks the login`,
        },
      },
    });
  }
  const rejected = [{ tag, digest, at: eventTimeIso, reason: 'RejectedByUser', message: 'rejected by ann' }];
  for (const policy of [
    basePolicyOf({ ...written, annotations: {}, status: { latest: newJava } }),
    basePolicyOf({ ...written, spec: { mode: 'Automatic' }, status: { latest: newJava } }),
    basePolicyOf({ ...written, status: { latest: newJava, rejected } }),
  ])
    assert.equal((await rejectOf(policy).reject({ tag, digest })).status, 409);
});

test('a base that several people approve is approved by each once, and not by who changed the policy', async (t) => {
  const { tag, digest } = newJava;
  const spec = { mode: 'Approval', approvals: { count: 2, notByAuthor: true } };
  const round = { tag, digest, since: '2026-03-01T09:00:00Z', generation: 1, required: 2 };
  const given = (user: string) => [{ user, at: '2026-03-01T09:30:00Z', seenAt: '2026-03-01T09:30:00Z' }];
  const policyWith = (approvals: object, editor: string) =>
    basePolicyOf({
      name: 'java',
      image: java,
      spec,
      status: { latest: newJava, pendingApproval: { tag, digest }, approvals: { ...round, ...approvals } },
      annotations: { [lastEditedByAnnotation]: editor },
    });
  const of = (policy: ReturnType<typeof policyWith>) => start(t, rights('get @platform'), sampleView({ find: () => policy }));
  const { post, patched, get } = of(policyWith({ given: given('bob') }, 'cy'));
  assert.deepEqual((await get(one)).body.approvals, {
    required: 2,
    given: [{ user: 'bob', at: '2026-03-01T09:30:00Z' }],
    uncounted: [],
  });
  assert.equal((await post(`${one}/approve`, { tag, digest, reason: 'tested' })).status, 202);
  assert.deepEqual(patched[0]?.body, {
    metadata: { annotations: { [approvalAnnotation('ann')]: `${tag}@${digest} ${eventTimeIso} ann\ntested` } },
  });
  assert.equal((await post(`${one}/suspend`)).status, 202);
  assert.deepEqual(patched[1]?.body, { metadata: { annotations: { [lastEditedByAnnotation]: 'ann' } }, spec: { suspend: true } });
  const conflictOf = async (policy: ReturnType<typeof policyWith>, body: object) => {
    const answer = await of(policy).post(`${one}/approve`, body);
    return [answer.status, answer.body.detail];
  };
  assert.deepEqual(await conflictOf(policyWith({ given: given('ann') }, 'cy'), { tag, digest }), [
    409,
    'you have approved it at 2026-03-01T09:30:00Z, and each person counts once',
  ]);
  assert.match(String((await conflictOf(policyWith({}, 'ann'), { tag, digest }))[1]), /you have changed the policy last/);
  assert.equal((await conflictOf(policyWith({}, 'cy'), { tag, digest: digestOf('e') }))[0], 409);
});
