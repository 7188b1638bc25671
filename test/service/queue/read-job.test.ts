import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readHash } from '../../../src/service/queue/event-record.ts';
import { readNoticeJob, readPolicyJob, readPollQueueJob, readPushJob } from '../../../src/service/queue/read-job.ts';

const receivedAt = '2026-03-01T12:00:00.000Z';
const digest = `sha256:${'b'.repeat(64)}`;
const repository = { registry: 'registry.example.com:5000', path: 'shop/web' };
const push = { schema: 1, id: 'a'.repeat(64), receiver: 'prod', provider: 'harbor', repository, tag: '1.3.0', digest, receivedAt };
const policy = {
  schema: 1,
  policy: { namespace: 'shop', name: 'web', uid: '0d9b4c1e-8f5e-4a36-9d2e-0f6f3c1b2a49' },
  source: 'Webhook',
  cause: 'push:1',
  receivedAt,
  hint: { tag: '1.3.0', digest },
};
const secrets = [{ namespace: 'shop', name: 'pull', namedBy: 'policy' }];
const poll = { schema: 1, repository: { ...repository, access: { secrets } }, intervalMs: 60_000, receivedAt };

test('jobs are read back as they were written', () => {
  assert.deepEqual([readPushJob(push), readPolicyJob(policy), readPollQueueJob(poll)], [push, policy, poll]);
  assert.deepEqual(readPollQueueJob({ schema: 1 }), { schema: 1 });
});

test('jobs of the former version are read without its decisions', () => {
  const { resolved, resolvedAt, ...others } = { ...policy, resolved: { tag: '1.3.0', digest }, resolvedAt: receivedAt };
  assert.ok(resolved && resolvedAt);
  assert.deepEqual(readPolicyJob({ ...others, resolved, resolvedAt }), policy);
  const file = join(import.meta.dirname, '../../fixtures/jobs/schema-1.json');
  const fixtures = JSON.parse(readFileSync(file, 'utf8').replaceAll('{{now}}', receivedAt).replaceAll('{{digest}}', digest)) as {
    queue: 'push' | 'policy' | 'poll';
    data: object;
  }[];
  const readers = { push: readPushJob, policy: readPolicyJob, poll: readPollQueueJob };
  for (const { queue, data } of fixtures) {
    const filled = JSON.parse(JSON.stringify(data).replaceAll(/\{\{(\w+)\}\}/g, 'name')) as object;
    assert.doesNotThrow(() => readers[queue](filled), JSON.stringify(filled));
  }
});

const long = 'x'.repeat(100_000);
describe('a malformed job is refused, with the path of the problem,', () => {
  for (const [what, read, data, place] of [
    ['no object', readPushJob, 'push', ''],
    ['a tag that is none', readPushJob, { ...push, tag: '../../x' }, 'tag'],
    ['a long tag', readPushJob, { ...push, tag: long }, 'tag'],
    ['a digest that is none', readPushJob, { ...push, digest: 'sha256:x' }, 'digest'],
    ['an id with a colon', readPushJob, { ...push, id: 'a:b' }, 'id'],
    ['a time that is none', readPushJob, { ...push, receivedAt: 'soon' }, 'receivedAt'],
    ['a registry with a path', readPushJob, { ...push, repository: { ...repository, registry: 'a/b' } }, 'repository.registry'],
    ['a list of paths', readPushJob, { ...push, repository: { ...repository, path: ['a'] } }, 'repository.path'],
    ['a long name', readPolicyJob, { ...policy, policy: { ...policy.policy, name: 'a'.repeat(254) } }, 'policy.name'],
    ['a namespace with a slash', readPolicyJob, { ...policy, policy: { ...policy.policy, namespace: 'a/b' } }, 'policy.namespace'],
    ['a source that there is not', readPolicyJob, { ...policy, source: 'Redis' }, 'source'],
    ['a long cause', readPolicyJob, { ...policy, cause: long }, 'cause'],
    ['a generation that is none', readPolicyJob, { ...policy, generation: -1 }, 'generation'],
    ['a hint without a tag', readPolicyJob, { ...policy, hint: { digest } }, 'hint.tag'],
    ['a long action', readPolicyJob, { ...policy, actions: { approve: long } }, 'actions.approve'],
    ['a trace that is none', readPolicyJob, { ...policy, traceparent: long }, 'traceparent'],
    ['another task', readPolicyJob, { ...policy, task: 'delete' }, 'task'],
    [
      'two Secrets in one name',
      readPollQueueJob,
      { ...poll, repository: { ...repository, access: { secrets: [{ ...secrets[0], name: 'a,b/c' }] } } },
      '',
    ],
    ['an interval of nothing', readPollQueueJob, { ...poll, intervalMs: 0 }, ''],
  ] as const) {
    test(`in the case "${what}"`, () =>
      assert.throws(() => read(data), new RegExp(`^Error: the job cannot be read: ${place.replaceAll('.', '\\.')} `)));
  }

  for (const subject of [
    { kind: 'ImagePolicy', namespace: 'shop', name: '../../sign-in?x=', uid: '1' },
    { kind: 'ImagePolicy', namespace: 'shop/x', name: 'web', uid: '1' },
    { kind: 'BaseImagePolicy', name: 'web', uid: '1' },
    { kind: 'Secret', namespace: 'shop', name: 'web', uid: '1' },
  ])
    test(`if its subject is ${JSON.stringify(subject)}`, () => {
      const notice = { kind: 'Updated', subject, at: receivedAt };
      const job = { schema: 1, target: 'chat', identity: ['1'], notice, receivedAt };
      assert.throws(() => readNoticeJob(job), /^Error: the job cannot be read: /);
      assert.ok(
        readNoticeJob({ ...job, notice: { ...notice, subject: { kind: 'ImagePolicy', namespace: 'shop', name: 'web', uid: '1' } } }),
      );
    });

  test('with a short message, whatever it contains', () => {
    const read = [readPushJob, readPolicyJob, readPollQueueJob];
    const text = fc.constantFrom(...Object.keys(push), ...Object.keys(policy), ...Object.keys(poll));
    fc.assert(
      fc.property(fc.dictionary(text, fc.anything()), (data) => {
        for (const reader of read) {
          try {
            reader(data);
          } catch (error) {
            assert.match(String(error), /^Error: the job cannot be read: /);
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the record of an event', () => {
  const { schema: _, repository: __, ...event } = push;
  const hash = { ...event, registry: repository.registry, repository: repository.path, policies: '["shop/web"]' };
  const result = { kind: 'updated', at: receivedAt, afterMs: 12 };

  const readPush = (written: Record<string, string>) => {
    const record = readHash(written);
    assert.ok(record?.state !== 'ignored');
    return record;
  };

  test('is read back as it was written', () => {
    const record = readPush({ ...hash, 'policy:shop/web': JSON.stringify(result) });
    assert.deepEqual([record?.state, record?.event, record?.results.get('shop/web')], ['matched', { ...event, repository }, result]);
  });

  test('is dropped when it cannot be read, and its unreadable parts are dropped alone', () => {
    assert.equal(readHash({ ...hash, tag: '../x' }), undefined);
    assert.equal(readHash({ ...hash, receivedAt: 'soon' }), undefined);
    for (const policies of ['{', '5', '[1]', 'null', '{"length":3}']) assert.equal(readPush({ ...hash, policies })?.results.size, 0);
    for (const text of ['{', '[]', 'null', '{"kind":"owned"}', '{"kind":"updated","at":5,"afterMs":1}'])
      assert.deepEqual([...(readPush({ ...hash, 'policy:shop/web': text })?.results ?? [])], [['shop/web', undefined]]);
  });

  const ignored = { ...event, outcome: 'ignored', reason: 'NoTag', message: 'pushed by digest', count: '3', tag: 'a b' };

  test('may contain any text as a name, without terminal control characters', () => {
    const record = readHash({ ...ignored, repository: '\u001b[2Jshop\u202e\n', registry: 'R' });
    assert.ok(record?.state === 'ignored');
    const { reason, message, registry, repository, tag, count } = record.event;
    assert.deepEqual(
      { reason, message, registry, repository, tag, count },
      {
        reason: 'NoTag',
        message: 'pushed by digest',
        registry: 'R',
        repository: '\ufffd[2Jshop\ufffd\ufffd',
        tag: 'a b',
        count: 3,
      },
    );
    for (const wrong of [{ reason: 'Invented' }, { count: 'many' }, { message: 'x'.repeat(600) }, { id: '../x' }, { receivedAt: 'soon' }])
      assert.equal(readHash({ ...ignored, ...wrong }), undefined);
  });
});
