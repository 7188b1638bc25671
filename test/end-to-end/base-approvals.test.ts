/** Decisions of several people about a base, with the admission policy of the chart before a real API server, and real service accounts as people. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { approvalAnnotation, formatApproval, lastEditedByAnnotation } from '../../src/core/model/named-approvals.ts';
import { actionAnnotations } from '../../src/core/model/policy-actions.ts';
import type { BaseDetail } from '../../src/service/api/base-view.ts';
import { resourceOf } from '../charts/manifests.ts';
import { runCommand } from '../cli/run-command.ts';
import { lacksHelm } from '../harness/binaries.ts';
import { renderChart } from '../harness/helm.ts';
import { kubeRequest, KubeRequestError } from '../harness/kube-request.ts';
import { resend } from '../harness/resend.ts';
import { createAccount, kubeconfigOf, tokenOf } from '../harness/service-account.ts';
import { waitFor } from '../harness/wait-for.ts';
import { basePath, pushApplications, pushBase } from './base-fleet.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

type Answer = Partial<BaseDetail> & { readonly detail?: string };
const people = ['ada', 'bob', 'author'] as const;
type Person = (typeof people)[number];

describe('decisions of several people about a base', { skip: (await lacksHelm()) ?? false }, () => {
  let world: World;
  let service: Service;
  const tokens = {} as Record<Person, string>;
  const name = 'java';
  const bases = () => `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies`;
  const nameOf = (person: Person) => `system:serviceaccount:${world.namespace}:${person}`;
  const as = (person: Person) => kubeRequest({ ...world.cluster, token: tokens[person] });
  const readStatus = async () => (await world.cluster.request<{ status?: BaseStatus }>('GET', `${bases()}/${name}`)).status ?? {};
  const isForbidden = (error: unknown) => error instanceof KubeRequestError && error.status === 403;

  before(async () => {
    world = await startWorld();
    for (const object of await renderChart({}))
      if (object.kind.startsWith('ValidatingAdmissionPolicy'))
        await world.cluster.request('POST', resourceOf(object, 'image-watcher'), object);
    const verbs = ['get', 'list', 'patch', 'approve', 'release'];
    for (const person of people) {
      const account = { name: person, namespace: world.namespace };
      const own = person === 'author' ? [...verbs, 'create', 'update'] : verbs;
      const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['baseimagepolicies'], verbs: own }];
      await createAccount(world.cluster, account, [{ namespace: world.namespace, rules }]);
      tokens[person] = await tokenOf(world.cluster, account);
    }
    const { host } = world.quiet;
    await pushApplications(host, ['web'], '21.0.1', await pushBase(host, '21.0.1'));
    await world.createDeployment('web', `${host}/shop/web:1.2.3`);
    service = await world.start({ config: { operations: { actions: true }, admissionPolicy: true } });
  });
  after(() => world.stop());

  const ask = (who: Person, path: string, body?: object) =>
    resend(async () => {
      const response = await fetch(`${service.operationsUrl}/api/v1/bases/${world.namespace}/${path}`, {
        headers: { authorization: `Bearer ${tokens[who]}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Answer };
    });
  const command = async (which: 'approve' | 'reject', who: Person, ...more: string[]) => {
    const kubeconfig = await kubeconfigOf(world.cluster, { namespace: world.namespace, name: who });
    return runCommand(which, ['-n', world.namespace, `bipol/${name}`, '--kubeconfig', kubeconfig, ...more]);
  };
  const push = async (tag: string) => {
    const digest = await pushBase(world.quiet.host, tag);
    await deliver(service, harborBody(world.quiet.host, basePath, [{ tag }]));
    await waitFor(`${tag} to wait`, async () => (await readStatus()).pendingApproval?.digest === digest);
    return { tag, digest };
  };
  const givenBy = async () => ((await readStatus()).approvals?.given ?? []).map(({ user }) => user);
  const isRequested = async (digest: string) => (await readStatus()).requests?.some(({ base }) => base === digest) === true;

  it('need a policy that names its author, which nobody else can create', async () => {
    const trigger = { images: ['*'], webhook: { url: 'https://ci.example.com/hook', secretRef: { name: 'ci', key: 'key' } } };
    const policy = (annotations: object) => ({
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'BaseImagePolicy',
      metadata: { name, annotations },
      spec: {
        image: `${world.quiet.host}/${basePath}`,
        select: { semver: { range: '21.x' } },
        workloads: [{}],
        mode: 'Approval',
        approvals: { count: 2, notByAuthor: true },
        onNewBase: [{ trigger }],
        poll: { interval: '8h' },
      },
    });
    for (const annotations of [{}, { [lastEditedByAnnotation]: nameOf('ada') }])
      await assert.rejects(as('author')('POST', bases(), policy(annotations)), isForbidden);
    await as('author')('POST', bases(), policy({ [lastEditedByAnnotation]: nameOf('author') }));
    await waitFor('the image to be current', async () => (await readStatus()).images?.current === 1);
  });

  it('need two people, and count nobody twice, in the name of another, as the author, or for another digest', async () => {
    const pending = await push('21.0.2');
    assert.equal((await ask('ada', `${name}/approve`, { ...pending, reason: 'scanned' })).status, 202);
    const shown = await waitFor('the approval of ada', async () => {
      const { body } = await ask('bob', name);
      return body.approvals?.given.length === 1 && body;
    });
    assert.deepEqual(
      [shown.state, shown.approvals?.required, shown.approvals?.given.map(({ user, reason }) => [user, reason])],
      ['ApprovalRequired', 2, [[nameOf('ada'), 'scanned']]],
    );
    const refused = async (who: Person, body: object) => (await ask(who, `${name}/approve`, body)).status;
    assert.equal(await refused('ada', pending), 409);
    assert.equal(await refused('author', pending), 409);
    assert.equal(await refused('bob', { ...pending, digest: `sha256:${'e'.repeat(64)}` }), 409);
    const annotate = (who: Person, annotations: object) => as(who)('PATCH', `${bases()}/${name}`, { metadata: { annotations } });
    const value = (user: string) => formatApproval({ ...pending, at: new Date().toISOString(), user });
    await assert.rejects(annotate('ada', { [approvalAnnotation('x')]: value(nameOf('bob')) }), isForbidden);
    // Neither a second one of hers, nor the annotation that names nobody, nor that of the author counts.
    await annotate('ada', {
      [approvalAnnotation('x')]: value(nameOf('ada')),
      [actionAnnotations.approve]: `${pending.tag}@${pending.digest}`,
    });
    await annotate('author', { [approvalAnnotation('author')]: value(nameOf('author')) });
    await waitFor('the approval of the author not to count', async () =>
      ((await readStatus()).approvals?.uncounted ?? []).some(({ user, why }) => user === nameOf('author') && why === 'Author'),
    );
    assert.deepEqual([await givenBy(), await isRequested(pending.digest)], [[nameOf('ada')], false]);
    await service.kill9();
    const { out, code, err } = await command('approve', 'bob');
    assert.equal(code, 0, err);
    assert.match(out, /approved 21\.0\.2@sha256:[0-9a-f]{64} for .*\/java as system:serviceaccount:.*:bob; 2 people have to/);
    await service.restart();
    await waitFor('the rebuild', () => isRequested(pending.digest));
    assert.deepEqual((await givenBy()).toSorted(), [nameOf('ada'), nameOf('bob')]);
  });

  it('end when an approval is withdrawn, and when the policy is changed', async () => {
    const taken = { metadata: { annotations: { [approvalAnnotation(nameOf('bob'))]: null } } };
    const change = { metadata: { annotations: { [lastEditedByAnnotation]: nameOf('author') } }, spec: { waves: { maxParallel: 3 } } };
    const { latest } = await readStatus();
    assert.ok(latest);
    await as('bob')('PATCH', `${bases()}/${name}`, taken);
    await waitFor('the base to wait again', async () => (await readStatus()).pendingApproval?.digest === latest.digest);
    await as('author')('PATCH', `${bases()}/${name}`, change);
    await waitFor('the approval of ada not to count', async () =>
      ((await readStatus()).approvals?.uncounted ?? []).some(({ user, why }) => user === nameOf('ada') && why === 'Earlier'),
    );
  });

  it('include a rejection that says who and why, also in an Event, and that a release withdraws', async () => {
    const pending = await push('21.0.3');
    const { out, code, err } = await command('reject', 'ada', '--reason', 'breaks the login');
    assert.equal(code, 0, err);
    assert.match(out, /rejected 21\.0\.3@sha256:/);
    const rejected = await waitFor('the rejection', async () => {
      const status = await readStatus();
      return status.rejected?.[0] !== undefined && status;
    });
    assert.deepEqual(
      [rejected.pendingApproval, rejected.rejected?.map(({ tag, reason, message }) => [tag, reason, message])],
      [undefined, [['21.0.3', 'RejectedByUser', `rejected by ${nameOf('ada')}: breaks the login`]]],
    );
    const held = rejected.conditions?.find(({ type }) => type === 'Held');
    assert.deepEqual([held?.reason, /breaks the login/.test(held?.message ?? '')], ['RejectedByUser', true]);
    await waitFor('an Event about it', async () =>
      (await world.waitForEvents('BaseImagePolicy', name)).some(
        ({ reason, message }) => reason === 'RejectedByUser' && message.includes('breaks the login'),
      ),
    );
    assert.equal((await ask('bob', `${name}/approve`, pending)).status, 409);
    assert.equal((await ask('bob', `${name}/release`, {})).status, 202);
    await waitFor('21.0.3 to wait again', async () => (await readStatus()).pendingApproval?.digest === pending.digest);
    for (const who of ['ada', 'bob'] as const) assert.equal((await ask(who, `${name}/approve`, pending)).status, 202);
    await waitFor('the rebuild', () => isRequested(pending.digest));
    assert.equal((await ask('ada', `${name}/reject`, { ...pending, reason: 'after all' })).status, 202);
    await waitFor('the approved base to be rejected', async () => (await ask('bob', name)).body.state === 'Held');
  });
});
