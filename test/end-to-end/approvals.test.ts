/** Decisions of several people about an image, with the admission policy of the chart before a real API server, and real service accounts as people. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { approvalAnnotation, formatApproval } from '../../src/core/model/named-approvals.ts';
import { resourceOf } from '../charts/manifests.ts';
import { runCommand } from '../cli/run-command.ts';
import { lacksHelm } from '../harness/binaries.ts';
import { renderChart } from '../harness/helm.ts';
import { kubeRequest, KubeRequestError } from '../harness/kube-request.ts';
import { pushImage } from '../harness/push-image.ts';
import { resend } from '../harness/resend.ts';
import { createAccount, kubeconfigOf, tokenOf } from '../harness/service-account.ts';
import { waitFor } from '../harness/wait-for.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

interface Answer {
  readonly name?: string;
  readonly changes?: { readonly from?: string; readonly to?: string; readonly links: readonly { readonly url: string }[] };
  readonly policies?: readonly Answer[];
  readonly detail?: string;
  readonly state?: string;
  readonly pendingApproval?: { readonly tag: string; readonly digest: string };
  readonly approvals?: {
    readonly required: number;
    readonly given: readonly { readonly user: string; readonly reason?: string }[];
    readonly until?: string;
  };
}

const people = ['ada', 'bob', 'cy', 'stranger'] as const;
type Person = (typeof people)[number];

describe('approvals of several people', { skip: (await lacksHelm()) ?? false }, () => {
  let world: World;
  let service: Service;
  const tokens = {} as Record<Person, string>;
  const config = { operations: { actions: true }, admissionPolicy: true };
  before(async () => {
    world = await startWorld();
    for (const object of await renderChart({}))
      if (object.kind.startsWith('ValidatingAdmissionPolicy'))
        await world.cluster.request('POST', resourceOf(object, 'image-watcher'), object);
    service = await world.start({ config });
    const rules = [
      { apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list', 'patch', 'approve', 'release'] },
    ];
    for (const name of people) {
      const account = { name, namespace: world.namespace };
      await createAccount(world.cluster, account, [{ namespace: world.namespace, rules: name === 'stranger' ? [] : rules }]);
      tokens[name] = await tokenOf(world.cluster, account);
    }
  });
  after(() => world.stop());

  const nameOf = (person: Person) => `system:serviceaccount:${world.namespace}:${person}`;
  const image = (app: string, tag: string) => `${world.quiet.host}/shop/${app}:${tag}`;
  const push = async (app: string, tag: string) => {
    const { host } = world.quiet;
    const { digest } = await pushImage({ host, repository: `shop/${app}`, tag, content: tag });
    await deliver(service, harborBody(host, `shop/${app}`, [{ tag }]));
    return { tag, digest };
  };
  const create = async (app: string, update: object) => {
    await pushImage({ host: world.quiet.host, repository: `shop/${app}`, tag: '1.0.0', content: '1.0.0' });
    await world.createDeployment(app, image(app, '1.0.0'));
    await world.createPolicy(app, `${world.quiet.host}/shop/${app}`, { strategy: 'SemVer' }, { update });
    await world.waitForFirstLook(app);
  };
  const pushPending = async (app: string, tag: string) => {
    const pushed = await push(app, tag);
    await waitFor(`${tag} to wait`, async () => (await world.readStatus(app)).pendingApproval?.digest === pushed.digest);
    return pushed;
  };
  const ask = (who: Person, path: string, body?: object) =>
    resend(async () => {
      const response = await fetch(
        `${service.operationsUrl}/api/v1/policies${path === '' ? `?namespace=${world.namespace}` : `/${world.namespace}/${path}`}`,
        {
          headers: { authorization: `Bearer ${tokens[who]}`, ...(body && { 'content-type': 'application/json' }) },
          ...(body && { method: 'POST', body: JSON.stringify(body) }),
        },
      );
      return { status: response.status, body: (await response.json()) as Answer };
    });
  const givenBy = async (app: string) => ((await world.readStatus(app)).approvals?.given ?? []).map(({ user }) => user);
  const runs = async (app: string) => {
    const { spec } = (await world.readDeployment(app)) as unknown as { spec: { template: { spec: { containers: { image: string }[] } } } };
    return spec.template.spec.containers[0]?.image;
  };

  it('apply an image after approvals of two people, neither twice by one person nor in the name of another', async () => {
    await create('pair', { mode: 'Approval', approvals: { count: 2 } });
    const pending = await pushPending('pair', '1.0.1');
    const first = await ask('ada', 'pair/approve', { ...pending, reason: 'tested on staging' });
    assert.equal(first.status, 202, first.body.detail);
    const shown = await waitFor('the first approval', async () => {
      const { body } = await ask('bob', 'pair');
      return body.approvals?.given.length === 1 && body;
    });
    assert.deepEqual(
      [shown.state, shown.approvals?.required, shown.approvals?.given.map(({ user, reason }) => [user, reason])],
      ['ApprovalRequired', 2, [[nameOf('ada'), 'tested on staging']]],
    );
    assert.ok(Date.parse(shown.approvals?.until ?? '') > Date.now());
    const twice = await ask('ada', 'pair/approve', pending);
    assert.deepEqual([twice.status, /each person counts once/.test(twice.body.detail ?? '')], [409, true]);
    const forged = {
      metadata: {
        annotations: { [approvalAnnotation('x')]: formatApproval({ ...pending, at: new Date().toISOString(), user: nameOf('bob') }) },
      },
    };
    const asAda = kubeRequest({ ...world.cluster, token: tokens.ada });
    await assert.rejects(
      asAda('PATCH', world.policyPath('pair'), forged),
      (error: unknown) => error instanceof KubeRequestError && error.status === 403,
    );
    await service.kill9();
    const { out, code, err } = await runCommand('approve', [
      `${world.namespace}/pair`,
      '--kubeconfig',
      await kubeconfigOf(world.cluster, { namespace: world.namespace, name: 'bob' }),
    ]);
    assert.equal(code, 0, err);
    assert.match(out, /approved 1\.0\.1@sha256:[0-9a-f]{64} for .* as system:serviceaccount:.*:bob; 2 people have to/);
    assert.equal(await runs('pair'), image('pair', '1.0.0'));
    await service.restart();
    await world.waitForImage('pair', image('pair', '1.0.1'));
  });

  it('end when a newer image is selected, and when the policy is changed', async () => {
    await create('newer', { mode: 'Approval', approvals: { count: 2 } });
    const older = await pushPending('newer', '1.0.1');
    assert.equal((await ask('ada', 'newer/approve', older)).status, 202);
    await waitFor('the approval of ada', async () => (await givenBy('newer')).length === 1);
    const newer = await pushPending('newer', '1.0.2');
    await waitFor('an Event about the approval that ended', async () =>
      (await world.waitForEvents('ImagePolicy', 'newer')).some(
        ({ reason, message }) => reason === 'ApprovalSuperseded' && message.includes('the approvals of'),
      ),
    );
    assert.equal((await ask('bob', 'newer/approve', older)).status, 409);
    assert.equal((await ask('bob', 'newer/approve', newer)).status, 202);
    await waitFor('the approval of bob', async () => (await givenBy('newer')).join() === nameOf('bob'));
    await world.patchPolicy('newer', { rollout: { watch: false, maxParallel: 3 } });
    await waitFor('the end of the approval of bob', async () => {
      const { given, uncounted } = (await world.readStatus('newer')).approvals ?? {};
      return given === undefined && uncounted?.some(({ user, why }) => user === nameOf('bob') && why === 'Earlier') === true;
    });
    assert.equal(await runs('newer'), image('newer', '1.0.0'));
    for (const who of ['ada', 'cy'] as const) assert.equal((await ask(who, 'newer/approve', newer)).status, 202);
    await world.waitForImage('newer', image('newer', '1.0.2'));
  });

  it('show the commits of the image that waits to those who may read the policy', async () => {
    const { host } = world.quiet;
    const repository = 'https://git.example.com/shop/commits';
    const [old, revision] = ['a'.repeat(40), 'b'.repeat(40)];
    const pushFrom = (tag: string, commit: string) => {
      const labels = { 'org.opencontainers.image.source': repository, 'org.opencontainers.image.revision': commit };
      return pushImage({ host, repository: 'shop/commits', tag, content: tag, labels });
    };
    await pushFrom('1.0.0', old);
    await world.createDeployment('commits', image('commits', '1.0.0'));
    await world.createPolicy('commits', `${host}/shop/commits`, { strategy: 'SemVer' }, { update: { mode: 'Approval' } });
    await world.waitForFirstLook('commits');
    await pushFrom('1.0.1', revision);
    await deliver(service, harborBody(host, 'shop/commits', [{ tag: '1.0.1' }]));
    const compare = `${repository}/compare/${old}...${revision}`;
    const { body } = await waitFor('the commits', async () => {
      const answer = await ask('ada', 'commits');
      return answer.body.changes?.links.some(({ url }) => url === compare) === true && answer;
    });
    assert.deepEqual([body.changes?.from, body.changes?.to, body.state], [old, revision, 'ApprovalRequired']);
    const inList = await ask('ada', '').then(({ body: list }) => list.policies?.find(({ name }) => name === 'commits'));
    assert.deepEqual(inList?.changes, body.changes);
    assert.equal((await ask('stranger', 'commits')).status, 403);
  });

  it('are replaced by a rejection, which says who and why, and which a release withdraws', async () => {
    await create('rejected', { mode: 'Approval' });
    const pending = await pushPending('rejected', '1.0.1');
    const refused = await ask('ada', 'rejected/reject', { ...pending, reason: 'breaks the login' });
    assert.equal(refused.status, 202, refused.body.detail);
    await world.waitForCondition('rejected', 'Held', 'RejectedDigest');
    const { rejected, pendingApproval } = await world.readStatus('rejected');
    assert.deepEqual(
      [pendingApproval, rejected?.map(({ tag, reason, message }) => [tag, reason, message])],
      [undefined, [['1.0.1', 'RejectedByUser', `rejected by ${nameOf('ada')}: breaks the login`]]],
    );
    assert.equal((await ask('bob', 'rejected/approve', pending)).status, 409);
    const explained = await runCommand('explain', [`${world.namespace}/rejected`, '--kubeconfig', world.cluster.kubeconfigPath]);
    assert.match(explained.out, /1\.0\.1 was rejected by .*: breaks the login/);
    assert.equal((await ask('bob', 'rejected/release', {})).status, 202);
    await waitFor('1.0.1 to wait again', async () => (await world.readStatus('rejected')).pendingApproval?.tag === '1.0.1');
    assert.equal((await ask('bob', 'rejected/approve', pending)).status, 202);
    await world.waitForImage('rejected', image('rejected', '1.0.1'));
  });
});
