/** What becomes of a rebuild that is to be requested; end-to-end/triggers.test.ts shows it with a real queue, over kills. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readBasePolicy } from '../../src/api-versions/base-policy/read-base-policy.ts';
import { PermanentError, WaitError } from '../../src/model/errors.ts';
import type { TriggerJob } from '../../src/queue/jobs.ts';
import type { RebuildRecord } from '../../src/queue/rebuild-records.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import type { CiRequest, RebuildState } from '../../src/triggers/order.ts';
import { processTrigger, type TriggerPorts } from '../../src/triggers/process-trigger.ts';
import type { SendResult } from '../../src/triggers/send-request.ts';

const now = Date.parse('2026-11-23T12:00:00Z');
const secretRef = { name: 'ci', key: 'token' };
const github = { trigger: { images: ['*'], github: { repository: '$source', event: 'base-image', secretRef } } };
const job: TriggerJob = {
  schema: 1,
  policy: { namespace: 'platform', name: 'java', uid: 'u1' },
  action: 1,
  base: { repository: 'harbor.example.com/library/base-java', tag: '21.0.7', digest: `sha256:${'b'.repeat(64)}` },
  source: 'shop/web',
  image: 'harbor.example.com/shop/web:1.2.3',
  receivedAt: '2026-11-23T11:00:00Z',
};

function policyOf(onNewBase: readonly object[], spec: object = {}) {
  const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '1', generation: 1 };
  const written = { image: job.base.repository, select: { semver: {} }, workloads: [{}], onNewBase, ...spec };
  return readBasePolicy({ metadata, spec: written }, { aliases: new Map(), customTargets: [] });
}

const other = { trigger: { images: ['harbor.example.com/tools/*'], jenkins: { url: 'https://ci.example.com', job: 'tools', secretRef } } };
const policy = policyOf([other, github]);

interface Options {
  readonly found?: ReturnType<typeof policyOf> | undefined;
  readonly known?: RebuildRecord;
  readonly answer?: SendResult;
  readonly secret?: string;
  readonly mayCall?: boolean;
  readonly isLastTry?: boolean;
}

async function run({ known, answer = { kind: 'accepted' }, secret, mayCall = true, isLastTry = false, ...options }: Options = {}) {
  const sent: CiRequest[] = [];
  const written: RebuildRecord[] = [];
  const told: RebuildState[] = [];
  const refreshed: boolean[] = [];
  const ports: TriggerPorts = {
    findPolicy: () => Promise.resolve('found' in options ? options.found : policy),
    readSecret({ namespace, name, key }, { refresh }) {
      assert.deepEqual([namespace, name, key], ['platform', 'ci', 'token']);
      refreshed.push(refresh);
      return secret === undefined ? Promise.resolve('t0ken') : Promise.reject(new PermanentError('RebuildRefused', secret));
    },
    mayCall: () => mayCall,
    send(request) {
      sent.push(request);
      return Promise.resolve(answer);
    },
    records: {
      read: () => Promise.resolve(known === undefined ? [] : [known]),
      write: (_, __, record) => Promise.resolve(void written.push(record)),
      writeFirst: () => Promise.reject(new Error('only who requests writes first')),
    },
    onRecorded: (_, __, state) => Promise.resolve(void told.push(state)),
    logger: createLogger('silent'),
    now: () => now,
  };
  const context = { jobId: 'id-1', name: 'trigger', failures: 0, isLastTry, signal: new AbortController().signal };
  const error: unknown = await processTrigger(job, context, ports).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { sent, written, told, refreshed, error };
}

const at = '2026-11-23T12:00:00.000Z';

describe('processTrigger', () => {
  it('sends the request of the action that the job names, and records that it was accepted', async () => {
    const { sent, written, told, error } = await run();
    assert.equal(sent[0]?.url.href, 'https://api.github.com/repos/shop/web/dispatches');
    assert.equal(sent[0].headers['authorization'], 'Bearer t0ken');
    assert.match(sent[0].body, /"request_id":"id-1"/);
    assert.deepEqual([written, told, error], [[{ source: 'shop/web', state: 'Requested', at }], written, undefined]);
  });

  it('does nothing for what was accepted before, as by a process that died right after', async () => {
    const { sent, written } = await run({ known: { source: 'shop/web', state: 'Requested', at } });
    assert.deepEqual([sent, written], [[], []]);
  });

  for (const [what, found] of [
    ['is gone', undefined],
    ['was created anew', { ...policy, uid: 'u2' }],
    ['has another action in its place', policyOf([other, { report: {} }])],
    ['is suspended', policyOf([other, github], { suspend: true })],
    ['only reports', policyOf([other, github], { mode: 'DryRun' })],
  ] as const) {
    it(`sends nothing where the policy ${what}: its next reconcile decides anew`, async () => {
      const { sent, written, error } = await run({ found });
      assert.deepEqual([sent, written, error], [[], [], undefined]);
    });
  }

  it('ends with what the CI system refuses', async () => {
    const { written, error } = await run({ answer: { kind: 'refused', message: 'answered 422: no event' } });
    assert.deepEqual([written[0]?.state, written[0]?.message, error], ['Failed', 'answered 422: no event', undefined]);
  });

  it('tries again after a failure, when the CI system wants it, and shows why', async () => {
    const failed = await run({ answer: { kind: 'failed', message: 'answered 503' } });
    assert.deepEqual(
      [failed.written[0]?.state, failed.written[0]?.message, String(failed.error)],
      ['Pending', 'answered 503', 'Error: answered 503'],
    );
    const until = new Date('2026-11-23T12:05:00Z');
    const paused = await run({ answer: { kind: 'failed', message: 'answered 429', until } });
    assert.deepEqual(paused.error instanceof WaitError && paused.error.until, until);
  });

  it('keeps since when a rebuild is wanted, and writes the same message once', async () => {
    const since = '2026-11-23T11:00:00.000Z';
    const first: RebuildRecord = { source: 'shop/web', state: 'Pending', at: since, message: 'answered 503' };
    const other = await run({ known: first, answer: { kind: 'failed', message: 'answered 500' } });
    assert.deepEqual(other.written, [{ ...first, message: 'answered 500' }]);
    assert.deepEqual((await run({ known: first, answer: { kind: 'failed', message: 'answered 503' } })).written, []);
  });

  it('gives up with the last try', async () => {
    const { written, error } = await run({ answer: { kind: 'failed', message: 'answered 503' }, isLastTry: true });
    assert.deepEqual([written[0]?.state, error], ['Failed', undefined]);
  });

  it('reads a Secret anew after a failure: a wrong token may have been mended', async () => {
    assert.deepEqual((await run()).refreshed, [false]);
    assert.deepEqual((await run({ known: { source: 'shop/web', state: 'Pending', at, message: 'answered 401' } })).refreshed, [true]);
  });

  it('names a Secret that cannot be used, and a host that may not be called', async () => {
    const missing = await run({ secret: 'Secret platform/ci has no key token' });
    assert.deepEqual([missing.sent, missing.written[0]?.message], [[], 'Secret platform/ci has no key token']);
    const foreign = await run({ mayCall: false });
    assert.deepEqual([foreign.sent, foreign.written[0]?.state], [[], 'Pending']);
    assert.match(foreign.written[0]?.message ?? '', /add it to triggers\.hosts/);
  });
});
