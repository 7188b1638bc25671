/** What becomes of a job; end-to-end/notifications.test.ts shows it with a real queue and receiver. */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { backoffMs, jobBackoff } from '../../src/core/async/backoff.ts';
import { WaitError } from '../../src/core/model/errors.ts';
import type { ConfiguredTarget } from '../../src/core/model/configured-target.ts';
import type { Notice } from '../../src/core/model/notice.ts';
import { createNoticeProcessor, isWanted, type NoticePorts, type PushNotice } from '../../src/notify/process-notice.ts';
import type { SendResult } from '../../src/service/proxy/exchange.ts';
import type { NoticeThreads, ThreadState } from '../../src/service/queue/notice-threads.ts';
import type { NoticeJob } from '../../src/service/queue/jobs.ts';
import { createLogger } from '../../src/service/telemetry/logger.ts';
import { contextOf } from '../service/reconcile/world.ts';

const start = Date.parse('2026-11-23T12:00:00Z');
const job: NoticeJob = {
  schema: 1,
  target: 'ops',
  identity: ['u1'],
  notice: {
    kind: 'Updated',
    subject: { kind: 'ImagePolicy', namespace: 'shop', name: 'web', uid: 'u1' },
    at: '2026-11-23T12:00:00Z',
    tag: '1.1.0',
  },
  receivedAt: '2026-11-23T12:00:00Z',
};
const ops: ConfiguredTarget = {
  name: 'ops',
  kind: 'slack',
  events: ['Updated'],
  namespaces: [],
  insecure: false,
  url: () => 'https://chat.example.com/hooks/abc',
  secret: () => '',
};

/** Threads of one process. */
function threadsInMemory(): NoticeThreads {
  const states = new Map<string, ThreadState>();
  return {
    take: (target, thread) =>
      Promise.resolve({
        last: states.get(`${target} ${thread}`),
        remember: async (state) => void states.set(`${target} ${thread}`, state),
        release: () => Promise.resolve(),
      }),
  };
}

function processorFor(answers: readonly SendResult[], target: Partial<ConfiguredTarget> = {}) {
  const sent: string[] = [];
  const counted: string[] = [];
  const recorded: PushNotice[] = [];
  let now = start;
  const left = [...answers];
  const ports: NoticePorts = {
    findTarget: (name) => [{ ...ops, ...target }].find((one) => one.name === name),
    mayAppear: (name) => name === 'shop/not-listed-yet',
    readOrigins: () => Promise.resolve({}),
    onResult: () => undefined,
    held: {
      hold: () => Promise.resolve(undefined),
      close: () => Promise.resolve({ notices: [], more: 0 }),
      forget: () => Promise.resolve(),
    },
    threads: threadsInMemory(),
    addSummary: () => Promise.resolve(),
    recordGivenUp: async (notices) => void recorded.push(...notices),
    exchange(url) {
      sent.push(url.href);
      return Promise.resolve({ result: left.shift() ?? { kind: 'sent', message: 'answered 200' } });
    },
    mail: () => Promise.reject(new Error('not used')),
    count: ({ result }) => counted.push(result),
    logger: createLogger('silent'),
    now: () => now,
  };
  const process = createNoticeProcessor(ports);
  const run = (isLastTry = false, target = job.target, more: Partial<Notice> = {}) =>
    process({ ...job, target, notice: { ...job.notice, ...more } }, contextOf({ jobId: 'id-1', isLastTry }));
  return { run, sent, counted, recorded, advance: (ms: number) => (now += ms) };
}

describe('a notice in the queue', () => {
  it('is sent', async () => {
    const { run, sent, counted } = processorFor([]);
    await run();
    assert.deepEqual([sent, counted], [['https://chat.example.com/hooks/abc'], ['sent']]);
  });

  for (const [name, target] of Object.entries({
    'a target that was removed': { name: 'other' },
    'a target that is no longer notified of it': { events: ['Blocked'] },
    'a target for other namespaces': { namespaces: ['other'] },
  }))
    it(`is dropped for ${name}`, async () => {
      const { run, sent, counted } = processorFor([], target);
      await run();
      assert.deepEqual([sent, counted], [[], []]);
    });

  it('waits for a target of a namespace until the targets of the cluster are known', async () => {
    const { run, counted } = processorFor([], { name: 'other' });
    await assert.rejects(run(false, 'shop/not-listed-yet'), /not known yet/);
    await run(false, 'shop/deleted');
    assert.deepEqual(counted, []);
    await run(true, 'shop/not-listed-yet');
    assert.deepEqual(counted, ['abandoned'], 'lost silently');
  });

  for (const url of ['http://chat.example.com/hooks/abc', 'file:///etc/passwd', 'no URL', ''])
    it(`is not sent to ${JSON.stringify(url)}, and not lost`, async () => {
      const { run, sent, counted } = processorFor([], { url: () => url });
      await assert.rejects(run(), (error: Error) => !error.message.includes('/hooks/abc'));
      assert.deepEqual([sent, counted], [[], ['failed']]);
    });

  for (const [labels, isSent] of [
    [{ tier: 'critical', team: 'shop' }, true],
    [{ tier: 'other' }, false],
    [{}, false],
  ] as const)
    it(`is ${isSent ? '' : 'not '}stored for a target of critical policies where the labels are ${JSON.stringify(labels)}`, () => {
      assert.equal(isWanted({ ...ops, policies: { tier: 'critical' } }, job.notice, labels), isSent);
    });

  it('about an image is sent to targets that name its namespace, whatever the labels of a policy', () => {
    const notice = { ...job.notice, subject: { kind: 'Image' as const, namespace: 'shop', name: 'shop/web:1', uid: 'u1' } };
    const wants = (more: Partial<ConfiguredTarget>) => isWanted({ ...ops, ...more }, notice, { tier: 'critical' });
    assert.deepEqual([wants({}), wants({ namespaces: ['shop'] }), wants({ namespaces: ['other'] })], [false, true, false]);
    assert.equal(wants({ namespaces: ['shop'], policies: { tier: 'critical' } }), false);
  });

  it('is sent over plain http if the target allows that', async () => {
    const { run, sent } = processorFor([], { url: () => 'http://chat.example.com/', insecure: true });
    await run();
    assert.equal(sent.length, 1);
  });

  it('waits as long as the target requests, like all other notices for this target', async () => {
    const until = new Date(start + 90_000);
    const { run, sent, counted, advance } = processorFor([{ kind: 'failed', message: 'slow down', until }]);
    const isWait = (error: unknown) => error instanceof WaitError && error.until.getTime() === until.getTime();
    await assert.rejects(run(), isWait);
    await assert.rejects(run(), isWait);
    assert.equal(sent.length, 1, 'nothing is sent during the pause');
    advance(90_000);
    await run();
    assert.deepEqual(counted, ['failed', 'sent']);
  });

  it('is given up if the target refuses the message, or after a day', async () => {
    for (const [result, isLastTry] of [
      [{ kind: 'refused', message: 'invalid' }, false],
      [{ kind: 'failed', message: 'down' }, true],
    ] as const) {
      const { run, counted } = processorFor([result]);
      await run(isLastTry);
      assert.deepEqual(counted, ['abandoned']);
    }
  });

  for (const [name, result, isLastTry, reason] of [
    ['refuses it', { kind: 'refused', message: 'was answered 400: too long' }, false, 'Refused'],
    ['is down for a day', { kind: 'failed', message: 'was answered 503' }, true, 'NotAccepted'],
  ] as const)
    it(`is given up in the record of its push if the target ${name}`, async () => {
      const { run, recorded } = processorFor([result], { name: 'shop/team' });
      await run(isLastTry, 'shop/team', { eventId: 'push-1' });
      const { subject, kind } = job.notice;
      const at = new Date(start).toISOString();
      assert.deepEqual(recorded, [{ eventId: 'push-1', subject, target: 'shop/team', kind, reason, message: result.message, at }]);
    });

  it('is given up without the answer of an endpoint of the operator in the record of its push', async () => {
    const { run, recorded } = processorFor([{ kind: 'refused', message: 'POST to https://internal.example.com was answered 400' }]);
    await run(false, 'ops', { eventId: 'push-1' });
    assert.deepEqual(
      recorded.map(({ target, reason, message }) => [target, reason, message]),
      [['ops', 'Refused', undefined]],
    );
  });

  it('is not recorded if no push led to it or if it is not given up', async () => {
    const { run, recorded } = processorFor([
      { kind: 'refused', message: 'no' },
      { kind: 'failed', message: 'down' },
    ]);
    await run();
    await assert.rejects(run(false, 'ops', { eventId: 'push-1' }));
    await run(false, 'ops', { eventId: 'push-1' });
    assert.deepEqual(recorded, []);
  });
});

describe('a push, for a target whose messages cannot be edited,', () => {
  const undone = `sha256:${'a'.repeat(64)}`;
  const failure = { kind: 'RolloutFailed', digest: undone, interim: true } as const;
  const rollback = { kind: 'RolledBack', tag: '1.0.0', undone, at: '2026-11-23T12:00:05Z' } as const;
  const all = ['Updated', 'RolledOut', 'RolloutFailed', 'RolledBack'];
  const isWaitUntil = (ms: number) => (error: unknown) => error instanceof WaitError && error.until.getTime() === start + ms;

  it('is reported at its end', async () => {
    const { run, sent } = processorFor([], { events: all });
    await run(false, 'ops', { interim: true });
    assert.equal(sent.length, 0);
    await run(false, 'ops', { kind: 'RolledOut' });
    assert.equal(sent.length, 1);
  });

  it('is reported at its beginning if the target is not notified of an end, or if there is no end', async () => {
    for (const [events, more] of [
      [['Updated', 'RolledOut'], { interim: true }],
      [all, {}],
    ] as const) {
      const { run, sent } = processorFor([], { events });
      await run(false, 'ops', more);
      assert.equal(sent.length, 1);
    }
  });

  it('is reported with its rollback if it fails', async () => {
    const { run, sent, advance } = processorFor([], { events: all });
    await assert.rejects(run(false, 'ops', failure), isWaitUntil(30_000));
    await run(false, 'ops', rollback);
    advance(30_000);
    await run(false, 'ops', failure);
    await run(false, 'ops', { kind: 'RolledOut', undone });
    assert.equal(sent.length, 1);
  });

  it('is reported as failed if no rollback follows, or if the rollback is not accepted', async () => {
    const { run, sent, counted, advance } = processorFor([{ kind: 'failed', message: 'down' }], { events: all });
    await assert.rejects(run(false, 'ops', rollback), /down/);
    advance(30_000);
    await run(false, 'ops', failure);
    assert.deepEqual([sent.length, counted], [2, ['failed', 'sent']]);
  });

  it('is reported as failed without a wait if no notice of a rollback can follow, and to programs', async () => {
    for (const [target, more] of [
      [{ events: ['RolloutFailed'] }, failure],
      [{ events: all }, { kind: 'RolloutFailed' }],
      [{ events: all, kind: 'webhook' }, failure],
    ] as const) {
      const { run, sent } = processorFor([], target);
      await run(false, 'ops', more);
      assert.equal(sent.length, 1);
    }
  });
});

test('a hundred notices reach a target once each, soon after the target is back from an hour of downtime', async () => {
  let now = start;
  const hour = 3_600_000;
  const accepted: string[] = [];
  let tries = 0;
  const process = createNoticeProcessor({
    findTarget: () => ops,
    exchange() {
      tries++;
      // At first it does not answer, then it asks for pauses.
      if (now < start + hour / 2) return Promise.resolve({ result: { kind: 'failed', message: 'ECONNREFUSED' } });
      if (now < start + hour)
        return Promise.resolve({ result: { kind: 'failed', message: 'answered 503', until: new Date(now + 120_000) } });
      return Promise.resolve({ result: { kind: 'sent', message: 'answered 200' } });
    },
    mail: () => Promise.reject(new Error('not used')),
    mayAppear: (name) => name === 'shop/not-listed-yet',
    readOrigins: () => Promise.resolve({}),
    onResult: () => undefined,
    held: {
      hold: () => Promise.resolve(undefined),
      close: () => Promise.resolve({ notices: [], more: 0 }),
      forget: () => Promise.resolve(),
    },
    threads: threadsInMemory(),
    addSummary: () => Promise.resolve(),
    recordGivenUp: () => Promise.resolve(),
    count: () => undefined,
    logger: createLogger('silent'),
    now: () => now,
  });
  // As the worker does: a failure waits for longer and longer, a WaitError until its time.
  let waiting = Array.from({ length: 100 }, (_, index) => ({ id: `id-${index}`, at: start + index, failures: 0 }));
  while (waiting.length > 0) {
    waiting.sort((a, b) => a.at - b.at);
    const [next = assert.fail(), ...others] = waiting;
    waiting = others;
    now = Math.max(now, next.at);
    const context = contextOf({ jobId: next.id, failures: next.failures });
    await process(job, context).then(
      () => accepted.push(next.id),
      (error: unknown) => {
        const at = error instanceof WaitError ? error.until.getTime() : now + backoffMs(next.failures, () => 0.5, jobBackoff);
        waiting.push({ id: next.id, at, failures: next.failures + (error instanceof WaitError ? 0 : 1) });
      },
    );
  }
  assert.equal(new Set(accepted).size, 100);
  assert.equal(accepted.length, 100);
  assert.ok(now < start + hour + jobBackoff.maxMs, `${(now - start - hour) / 1_000} s after it was back`);
  assert.ok(tries < 100 * 25, `${tries} requests`);
});
