/** What a Job is made of, and when it is not. The real API server and its controllers: test/end-to-end/check-jobs.test.ts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAskCheck } from '../../../src/service/checks/ask-check.ts';
import { madeNameOf } from '../../../src/service/checks/made-once.ts';
import type { KubeRequest } from '../../../src/service/kube/client.ts';
import { KubeError } from '../../../src/service/kube/kube-error.ts';
import type { CheckRequest } from '../../../src/service/reconcile/checks/check-request.ts';
import { id, meansOf, requestOf, secret } from './check-samples.ts';

const question = { kind: 'job', cronJob: 'migrate' } as const;
const consent = { 'operator.technomad.dev/check': 'allow' };
const cronJob = (change: object = {}, annotations: object = consent) => ({
  metadata: { annotations },
  spec: {
    suspend: true,
    schedule: '0 0 1 1 *',
    jobTemplate: {
      metadata: { labels: { app: 'migrate' }, annotations: { own: 'yes' } },
      spec: {
        backoffLimit: 2,
        template: { metadata: { annotations: { pod: 'yes' } }, spec: { restartPolicy: 'Never', serviceAccountName: 'migrate' } },
      },
    },
    ...change,
  },
});

interface Job {
  readonly metadata: {
    readonly name: string;
    readonly annotations: Readonly<Record<string, string>>;
    readonly ownerReferences: readonly object[];
  };
  readonly spec: {
    readonly activeDeadlineSeconds: number;
    readonly ttlSecondsAfterFinished: number;
    readonly template: { readonly spec: object; readonly metadata: { readonly annotations: object } };
  };
}

/** Asks with these objects in the cluster; what is created is in `made`. */
async function ask(objects: Readonly<Record<string, unknown>>, request: Partial<CheckRequest> = {}, jobs = true) {
  const made: Job[] = [];
  const client = {
    ...meansOf({}).client,
    async request<T>({ method, path, body }: KubeRequest): Promise<T> {
      if (method === 'POST') made.push(body as Job);
      const name = path.split('/').at(-1) ?? '';
      const found = method === 'POST' ? (objects['POST'] ?? { metadata: { uid: 'uid-of-job' } }) : objects[name];
      if (found instanceof Error) throw found;
      if (found === undefined) throw new KubeError('GET', 404, {});
      return found as T;
    },
  };
  const answer = await createAskCheck(meansOf({ client, jobs }))(requestOf(question, request));
  return { answer, made };
}

const name = madeNameOf(requestOf(question), secret);
const job = { name, uid: 'uid-of-job' };
const jobWith = (condition: object | undefined, checkId = id) => ({
  metadata: { uid: job.uid, annotations: { 'operator.technomad.dev/check-id': checkId } },
  ...(condition && { status: { conditions: [condition] } }),
});

describe('the Job of a check', () => {
  it('is that of the CronJob, with the annotations of the check', async () => {
    const { answer, made } = await ask({ migrate: cronJob() });
    assert.deepEqual([answer.kind, answer.job, made.length], ['none', job, 1]);
    const { metadata, spec } = made[0] ?? assert.fail();
    assert.equal(metadata.name, name);
    assert.match(name, /^gate-[0-9a-f]{20}$/);
    assert.equal(metadata.annotations['own'], 'yes');
    assert.equal(metadata.annotations['operator.technomad.dev/check-tag'], '1.3.0');
    assert.deepEqual(spec.template.spec, { restartPolicy: 'Never', serviceAccountName: 'migrate' });
    assert.deepEqual([spec.activeDeadlineSeconds, spec.ttlSecondsAfterFinished], [91, 3_600]);
    assert.equal((metadata.ownerReferences[0] as { uid?: string }).uid, 'uid-of-policy');
  });
  it('has a name of an allowed length, however long the name of the check is', () => {
    const long = requestOf(question);
    assert.ok(madeNameOf({ ...long, check: { ...long.check, name: `${'a'.repeat(39)}-${'b'.repeat(23)}` } }, secret).length <= 63);
  });
  const refused: readonly (readonly [what: string, objects: Readonly<Record<string, unknown>>, message: RegExp])[] = [
    ['there is no CronJob', {}, /no CronJob migrate/],
    ['it is not suspended', { migrate: cronJob({ suspend: false }) }, /not suspended/],
    ['its owner does not allow it', { migrate: cronJob({}, {}) }, /not allowed for checks/],
    ['its owner allows something else', { migrate: cronJob({}, { 'operator.technomad.dev/check': 'yes' }) }, /not allowed for checks/],
  ];
  for (const [what, objects, message] of refused) {
    it(`is not made where ${what}`, async () => {
      const { answer, made } = await ask(objects);
      assert.deepEqual([answer.kind, answer.job, made.length], ['none', undefined, 0]);
      assert.match(answer.message, message);
    });
  }
  it('is not made where the operator does not allow Jobs', async () => {
    const { answer, made } = await ask({ migrate: cronJob() }, {}, false);
    assert.match(answer.message, /checks\.jobs/);
    assert.equal(made.length, 0);
  });
  const states: readonly (readonly [what: string, condition: object | undefined, kind: 'pass' | 'fail' | 'none', message: RegExp])[] = [
    ['it runs', undefined, 'none', /runs/],
    ['it is complete', { type: 'Complete', status: 'True' }, 'pass', /complete/],
    ['it has failed', { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'too often' }, 'fail', /too often/],
    ['it took too long', { type: 'Failed', status: 'True', reason: 'DeadlineExceeded' }, 'none', /too long/],
    ['it has not failed', { type: 'Failed', status: 'False' }, 'none', /runs/],
  ];
  for (const [what, condition, kind, message] of states) {
    it(`gives the answer "${kind}" if ${what}`, async () => {
      const { answer, made } = await ask({ [name]: jobWith(condition), migrate: cronJob() });
      assert.deepEqual([answer.kind, made.length], [kind, 0]);
      assert.match(answer.message, message);
    });
  }
  it('gives no answer if it belongs to another check', async () => {
    const { answer } = await ask({ [name]: jobWith({ type: 'Complete', status: 'True' }, 'other') });
    assert.deepEqual([answer.kind, answer.job], ['none', undefined]);
  });
  it('has a name that nobody can predict from the id in the status', () => {
    assert.notEqual(madeNameOf(requestOf(question), 'another secret'), name);
    assert.ok(!name.includes(id.slice(0, 8)));
  });
  it('gives no answer if somebody has replaced it by another Job', async () => {
    const { record } = requestOf(question);
    const complete = jobWith({ type: 'Complete', status: 'True' });
    const askWith = (uid: string) => ask({ [name]: complete, migrate: cronJob() }, { record: { ...record, job: { name, uid } } });
    assert.equal((await askWith(job.uid)).answer.kind, 'pass');
    const { answer, made } = await askWith('of-ours');
    assert.deepEqual([answer.kind, made.length], ['none', 0]);
    assert.match(answer.message, /not the one that was created/);
  });
  it('is found by its recorded name, even after Redis has lost the secret', async () => {
    const { record } = requestOf(question);
    const known = { ...job, name: 'gate-of-an-earlier-secret' };
    const { answer } = await ask({ [known.name]: jobWith({ type: 'Complete', status: 'True' }) }, { record: { ...record, job: known } });
    assert.deepEqual([answer.kind, answer.job], ['pass', known]);
  });
  it('is not made again once it was created and is gone', async () => {
    const { record } = requestOf(question);
    const { answer, made } = await ask({ migrate: cronJob() }, { record: { ...record, job } });
    assert.match(answer.message, /is gone/);
    assert.equal(made.length, 0);
  });
  it('is read by the next question if another replica has just created it', async () => {
    const { answer } = await ask({ migrate: cronJob(), POST: new KubeError('POST', 409, {}) });
    assert.deepEqual([answer.kind, answer.job], ['none', undefined]);
  });
});
