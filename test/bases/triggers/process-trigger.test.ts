/** What becomes of a rebuild that is to be requested; end-to-end/triggers.test.ts shows it with a real queue, over kills. */
import { approvalAnnotation, formatApproval } from '../../../src/core/model/named-approvals.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import { PermanentError, WaitError } from '../../../src/core/model/errors.ts';
import type { TriggerJob } from '../../../src/service/queue/jobs.ts';
import type { RebuildRecord } from '../../../src/service/queue/rebuild-records.ts';
import { createLogger } from '../../../src/service/telemetry/logger.ts';
import type { CiRequest } from '../../../src/bases/triggers/order.ts';
import { pipelineOf } from '../../../src/bases/triggers/find-project.ts';
import { processTrigger, type TriggerPorts } from '../../../src/bases/triggers/process-trigger.ts';
import type { SendResult } from '../../../src/bases/triggers/send-request.ts';
import { contextOf } from '../../service/reconcile/world.ts';

const now = Date.parse('2026-11-23T12:00:00Z');
const secretRef = { name: 'ci', key: 'token' };
const github = { trigger: { images: ['*'], github: { repository: '$source', event: 'base-image', secretRef } } };
const job: TriggerJob = {
  schema: 1,
  policy: { namespace: 'platform', name: 'java', uid: 'u1' },
  pipeline: pipelineOf({ system: 'githubDispatch', project: '$source', name: 'base-image' }),
  base: { repository: 'harbor.example.com/library/base-java', tag: '21.0.7', digest: `sha256:${'b'.repeat(64)}` },
  source: 'shop/web',
  image: 'harbor.example.com/shop/web:1.2.3',
  receivedAt: '2026-11-23T11:00:00Z',
};

function policyOf(
  onNewBase: readonly object[],
  spec: object = {},
  { latest = {}, annotations = {}, more = {} }: { latest?: object; annotations?: object; more?: object } = {},
) {
  const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '1', generation: 1 };
  const written = { image: job.base.repository, select: { semver: {} }, workloads: [{}], onNewBase, ...spec };
  const { tag, digest } = job.base;
  const status = { latest: { tag, digest, selectedAt: '2026-11-23T11:00:00Z', ...latest }, ...more };
  return readBasePolicy(
    { metadata: { ...metadata, annotations }, spec: written, status },
    { aliases: new Map(), customTargets: [], verifiesApprovers: true },
  );
}

/** Decisions of people about the base of the job. */
const { tag, digest } = job.base;
const two = { mode: 'Approval', approvals: { count: 2 } };
const round = { approvals: { tag, digest, since: '2026-11-23T11:00:00Z', generation: 1, required: 2 } };
const by = (user: string) => ({ [approvalAnnotation(user)]: formatApproval({ tag, digest, at: '2026-11-23T11:30:00Z', user }) });
const approved = { 'operator.technomad.dev/approve': `${tag}@${digest}` };
const rejecting = { 'operator.technomad.dev/reject': `${tag}@${digest} 2026-11-23T11:30:00Z` };

const other = { trigger: { images: ['harbor.example.com/tools/*'], jenkins: { url: 'https://ci.example.com', job: 'tools', secretRef } } };
const policy = policyOf([other, github]);

interface Options {
  readonly data?: Partial<TriggerJob>;
  readonly found?: ReturnType<typeof policyOf> | undefined;
  readonly known?: RebuildRecord;
  readonly answer?: SendResult;
  readonly secret?: string;
  readonly mayCall?: boolean;
  readonly isLastTry?: boolean;
  readonly isAsPlanned?: boolean;
}

async function run({
  known,
  data = {},
  answer = { kind: 'accepted' },
  secret,
  mayCall = true,
  isLastTry = false,
  isAsPlanned = true,
  ...options
}: Options = {}) {
  const sent: CiRequest[] = [];
  const written: RebuildRecord[] = [];
  const reported: string[] = [];
  const refreshed: boolean[] = [];
  const ports: TriggerPorts = {
    findPolicy: () => Promise.resolve('found' in options ? options.found : policy),
    isAsPlanned: () => Promise.resolve(isAsPlanned),
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
    onRecorded: ({ name }) => Promise.resolve(void reported.push(name)),
    logger: createLogger('silent'),
    now: () => now,
  };
  const context = contextOf({ jobId: 'id-1', isLastTry });
  const error: unknown = await processTrigger({ ...job, ...data }, context, ports).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { sent, written, reported, refreshed, error };
}

const target = { pipeline: job.pipeline, source: 'shop/web' };
const at = '2026-11-23T12:00:00.000Z';

describe('processTrigger', () => {
  it('sends nothing if the policy has changed while the Secret was read, and tries again', async () => {
    const { sent, written, error } = await run({ isAsPlanned: false });
    assert.deepEqual([sent, written], [[], []]);
    assert.match(String(error), /the policy has changed meanwhile/);
  });

  it('sends the request of the action that the job names, and records that it was accepted', async () => {
    const { sent, written, reported, error } = await run();
    assert.equal(sent[0]?.url.href, 'https://api.github.com/repos/shop/web/dispatches');
    assert.equal(sent[0].headers['authorization'], 'Bearer t0ken');
    assert.match(sent[0].body, /"request_id":"id-1"/);
    assert.deepEqual([written, reported, error], [[{ ...target, state: 'Requested', at }], ['java'], undefined]);
  });

  it('sends nothing for a rebuild that was accepted before, for example by a process that died right after', async () => {
    const { sent, written } = await run({ known: { ...target, state: 'Requested', at } });
    assert.deepEqual([sent, written], [[], []]);
  });

  for (const [what, found] of [
    ['is gone', undefined],
    ['was recreated', { ...policy, uid: 'u2' }],
    ['has another action in its place', policyOf([other, { report: {} }])],
    ['is being deleted', { ...policy, isDeleting: true }],
    ['is suspended', policyOf([other, github], { suspend: true })],
    ['only reports', policyOf([other, github], { mode: 'DryRun' })],
    ['waits for an approval', policyOf([other, github], { mode: 'Approval' })],
    [
      'waits for a second approval, whatever else says that it is approved',
      policyOf([github], two, { annotations: { ...approved, ...by('ada') }, more: round }),
    ],
    ['was rejected, although it was approved', policyOf([github], {}, { annotations: { ...approved, ...rejecting } })],
    ['has selected another base', policyOf([github], {}, { latest: { digest: `sha256:${'c'.repeat(64)}` } })],
    [
      'calls another system',
      policyOf([other, { trigger: { ...github.trigger, github: { ...github.trigger.github, url: 'https://ghe.example.com' } } }]),
    ],
    ['does not allow the source any more', policyOf([{ trigger: { ...github.trigger, sources: ['ops/*'] } }])],
    ['does not rebuild the image any more', policyOf([{ trigger: { ...github.trigger, images: ['harbor.example.com/tools/*'] } }])],
  ] as const) {
    it(`sends nothing if the policy ${what}, and leaves the decision to the next reconcile`, async () => {
      const { sent, written, error } = await run({ found });
      assert.deepEqual([sent, written, error], [[], [], undefined]);
    });
  }

  it('does not retry a request that the CI system refuses, and records the refusal', async () => {
    const { written, error } = await run({ answer: { kind: 'refused', message: 'answered 422: no event' } });
    assert.deepEqual([written[0]?.state, written[0]?.message, error], ['Failed', 'answered 422: no event', undefined]);
  });

  it('retries after a failure, at the time that the CI system asks for, and records the reason', async () => {
    const failed = await run({ answer: { kind: 'failed', message: 'answered 503' } });
    assert.deepEqual(
      [failed.written[0]?.state, failed.written[0]?.message, String(failed.error)],
      ['Pending', 'answered 503', 'Error: answered 503'],
    );
    const until = new Date('2026-11-23T12:05:00Z');
    const paused = await run({ answer: { kind: 'failed', message: 'answered 429', until } });
    assert.deepEqual(paused.error instanceof WaitError && paused.error.until, until);
  });

  it('keeps since when a rebuild is wanted, and does not write the same message twice', async () => {
    const since = '2026-11-23T11:00:00.000Z';
    const first: RebuildRecord = { ...target, state: 'Pending', at: since, message: 'answered 503' };
    const other = await run({ known: first, answer: { kind: 'failed', message: 'answered 500' } });
    assert.deepEqual(other.written, [{ ...first, message: 'answered 500' }]);
    assert.deepEqual((await run({ known: first, answer: { kind: 'failed', message: 'answered 503' } })).written, []);
  });

  it('records a failure as final after the last try', async () => {
    const { written, error } = await run({ answer: { kind: 'failed', message: 'answered 503' }, isLastTry: true });
    assert.deepEqual([written[0]?.state, error], ['Failed', undefined]);
  });

  it('reads the Secret again after a failure, because a wrong token may have been replaced', async () => {
    assert.deepEqual((await run()).refreshed, [false]);
    assert.deepEqual((await run({ known: { ...target, state: 'Pending', at, message: 'answered 401' } })).refreshed, [true]);
  });

  it('names a Secret that cannot be used, and a host that may not be called', async () => {
    const missing = await run({ secret: 'Secret platform/ci has no key token' });
    assert.deepEqual([missing.sent, missing.written[0]?.message], [[], 'Secret platform/ci has no key token']);
    const foreign = await run({ mayCall: false });
    assert.deepEqual([foreign.sent, foreign.written[0]?.state], [[], 'Pending']);
    assert.match(foreign.written[0]?.message ?? '', /add it to triggers\.hosts/);
  });

  it('sends the request when the base is approved, and finds its action wherever it is', async () => {
    const annotations = { 'operator.technomad.dev/approve': `${job.base.tag}@${job.base.digest}` };
    assert.equal((await run({ found: policyOf([github], { mode: 'Approval' }, { annotations }) })).sent.length, 1);
    const both = policyOf([github], two, { annotations: { ...by('ada'), ...by('bob') }, more: round });
    assert.equal((await run({ found: both })).sent.length, 1);
  });

  it('sends nothing for a source that no image can name, as somebody may write to Redis', async () => {
    for (const source of ['../../user', 'shop/..', 'shop//web', 'shop/web?x', 'shop/web#'])
      assert.deepEqual((await run({ data: { source } })).sent, []);
  });

  it('repeats an answered request if the job asks for that, and records a new refusal with the same message', async () => {
    const message = 'answered 422: no event';
    const failed: RebuildRecord = { ...target, state: 'Failed', at: '2026-11-23T10:00:00.000Z', message };
    const again = await run({ known: failed, data: { after: failed.at }, answer: { kind: 'refused', message } });
    assert.deepEqual([again.sent.length, again.written], [1, [{ ...failed, at, after: failed.at }]]);
    const requested: RebuildRecord = { ...target, state: 'Requested', at: failed.at };
    assert.equal((await run({ known: requested, data: { after: failed.at } })).sent.length, 1);
    assert.equal((await run({ known: { ...requested, at }, data: { after: failed.at } })).sent.length, 0);
  });
});
