/** What the phases of an AnalysisRun mean, and what is refused before one is made. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAskCheck } from '../../../src/service/checks/ask-check.ts';
import { madeNameOf } from '../../../src/service/checks/made-once.ts';
import type { KubeRequest } from '../../../src/service/kube/client.ts';
import { KubeError } from '../../../src/service/kube/kube-error.ts';
import type { CheckRequest } from '../../../src/service/reconcile/checks/check-request.ts';
import { id, meansOf, requestOf, secret } from './check-samples.ts';

const question = { kind: 'analysis', template: 'success-rate' } as const;
const template = (metadata: object = {}) => ({
  metadata: { annotations: { 'operator.technomad.dev/check': 'allow' }, ...metadata },
  spec: { metrics: [{ name: 'm', provider: {} }], args: ['image', 'tag', 'digest', 'policy'].map((name) => ({ name })) },
});
interface Run {
  readonly metadata: {
    readonly name: string;
    readonly labels?: object;
    readonly annotations: object;
    readonly ownerReferences: readonly object[];
  };
  readonly spec: { readonly args: readonly { readonly name: string; readonly value: string }[]; readonly ttlStrategy: object };
}

/** Asks with these objects in the cluster; what is created is in `made`. */
async function ask(objects: Readonly<Record<string, unknown>>, request: Partial<CheckRequest> = {}, analysis = true) {
  const made: Run[] = [];
  const paths: string[] = [];
  const client = {
    ...meansOf({}).client,
    async request<T>({ method, path, body }: KubeRequest): Promise<T> {
      paths.push(path);
      if (method === 'POST') made.push(body as Run);
      const found = method === 'POST' ? (objects['POST'] ?? { metadata: { uid } }) : objects[path.split('/').at(-1) ?? ''];
      if (found instanceof Error) throw found;
      if (found === undefined) throw new KubeError('GET', 404, { reason: 'NotFound' });
      return found as T;
    },
  };
  const answer = await createAskCheck(meansOf({ client, analysis }))(requestOf(question, request));
  return { answer, made, paths };
}

const name = madeNameOf(requestOf(question), secret);
const uid = 'uid-of-run';
const runWith = (status: object | undefined, { checkId = id, spec = {} } = {}) => ({
  metadata: { uid, annotations: { 'operator.technomad.dev/check-id': checkId } },
  spec,
  ...(status && { status }),
});

describe('the AnalysisRun of a check', () => {
  it('gets the image through the args of the template, and is removed after its end', async () => {
    const label = { 'argo-rollouts.argoproj.io/controller-instance-id': 'blue' };
    const { answer, made } = await ask({ 'success-rate': template({ labels: { ...label, own: 'no' } }) });
    assert.deepEqual([answer.kind, answer.job, made.length], ['none', { name, uid }, 1]);
    const { metadata, spec } = made[0] ?? assert.fail();
    const { record, image } = requestOf(question);
    assert.deepEqual([metadata.name, metadata.labels], [name, label]);
    assert.deepEqual(
      spec.args.map(({ value }) => value),
      [image, '1.3.0', record.digest, 'web'],
    );
    assert.deepEqual(spec.ttlStrategy, { secondsAfterCompletion: 3_600 });
    assert.equal((metadata.ownerReferences[0] as { uid?: string }).uid, 'uid-of-policy');
  });
  const refused: readonly (readonly [what: string, objects: Readonly<Record<string, unknown>>, message: RegExp])[] = [
    ['there is no template', {}, /no AnalysisTemplate success-rate in the namespace/],
    ['Argo Rollouts is not installed', { 'success-rate': new KubeError('GET', 404, { message: '404 page not found' }) }, /not installed/],
    ['its owner does not allow it', { 'success-rate': template({ annotations: {} }) }, /not allowed for checks: it needs the annotation/],
    ['it cannot be read', { 'success-rate': { ...template(), spec: { metrics: 'x' } } }, /cannot be read/],
    ['it makes no run', { 'success-rate': { ...template(), spec: {} } }, /success-rate makes no run: it has no metrics/],
    ['the API server refuses', { 'success-rate': new KubeError('GET', 403, { reason: 'Forbidden', message: 'no right' }) }, /no right/],
  ];
  for (const [what, objects, message] of refused) {
    it(`is not made where ${what}`, async () => {
      const { answer, made } = await ask(objects);
      assert.deepEqual([answer.kind, answer.job, made.length], ['none', undefined, 0]);
      assert.match(answer.message, message);
    });
  }
  it('is not made where the operator does not allow AnalysisRuns, and nothing is read', async () => {
    const { answer, paths } = await ask({ 'success-rate': template() }, {}, false);
    assert.match(answer.message, /checks\.analysis/);
    assert.deepEqual(paths, []);
  });
  it('is not made for an invalid tag or digest, so that nobody injects a query through a status', async () => {
    const { record } = requestOf(question);
    for (const forged of [{ tag: '1"} or up{x="' }, { digest: 'sha256:x' }]) {
      const { answer, made } = await ask({ 'success-rate': template() }, { record: { ...record, ...forged } });
      assert.match(answer.message, /no tag or digest that is valid/);
      assert.equal(made.length, 0);
    }
  });
  const states: readonly (readonly [what: string, found: object, kind: 'pass' | 'fail' | 'none', message: RegExp])[] = [
    ['nobody has looked at it', runWith(undefined), 'none', /waits for the controller/],
    ['it is pending', runWith({ phase: 'Pending' }), 'none', /runs$/],
    ['it runs', runWith({ phase: 'Running' }), 'none', /runs$/],
    ['it is successful', runWith({ phase: 'Successful' }), 'pass', /is successful/],
    ['it failed', runWith({ phase: 'Failed', message: 'too\nslow\u202e' }), 'fail', /failed: too slow$/],
    ['it is inconclusive', runWith({ phase: 'Inconclusive', message: 'neither' }), 'none', /is inconclusive: neither/],
    ['it could not measure', runWith({ phase: 'Error', message: 'no such host' }), 'none', /could not measure: no such host/],
    ['somebody stopped it', runWith({ phase: 'Successful' }, { spec: { terminate: true } }), 'none', /was stopped/],
    ['it failed and was stopped', runWith({ phase: 'Failed' }, { spec: { terminate: true } }), 'fail', /failed$/],
    ['its phase is not known', runWith({ phase: 'Perfect' }), 'none', /runs$/],
    ['it cannot be read', runWith({ phase: 1 }), 'none', /cannot be read/],
  ];
  for (const [what, found, kind, message] of states) {
    it(`gives the answer "${kind}" if ${what}`, async () => {
      const { answer, made } = await ask({ [name]: found, 'success-rate': template() });
      assert.deepEqual([answer.kind, made.length], [kind, 0]);
      assert.match(answer.message, message);
    });
  }
  it('gives no answer if it belongs to another check', async () => {
    const { answer } = await ask({ [name]: runWith({ phase: 'Successful' }, { checkId: 'other' }) });
    assert.deepEqual([answer.kind, answer.job], ['none', undefined]);
  });
  it('is not made again once it was made and is gone', async () => {
    const { record } = requestOf(question);
    const { answer, made } = await ask({ 'success-rate': template() }, { record: { ...record, job: { name, uid } } });
    assert.match(answer.message, /is gone/);
    assert.equal(made.length, 0);
  });
});
