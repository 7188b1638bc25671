/** Policies through the API, and an approval from the push to the rollout, with the rights of real service accounts. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { routes } from '../../src/service/api/routes/index.ts';
import { activityReads } from '../../src/service/api/activity-view.ts';
import { pushImage } from '../harness/push-image.ts';
import { resend } from '../harness/resend.ts';
import { createAccount, tokenOf } from '../harness/service-account.ts';
import { waitFor } from '../harness/wait-for.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

interface Answer {
  readonly detail?: string;
  readonly state?: string;
  readonly requested?: string;
  readonly pendingApproval?: { readonly tag: string; readonly digest: string };
  readonly policies?: readonly { readonly name: string }[];
  readonly status?: { readonly lastHandledRequest?: string };
}

describe('the API', () => {
  let world: World;
  let service: Service;
  let tokens: Record<'reader' | 'editor' | 'stranger' | 'all', string>;
  before(async () => {
    world = await startWorld();
    service = await world.start({ config: { operations: { actions: true } } });
    const tokenWith = async (name: string, verbs: string[], namespace?: string) => {
      const account = { name, namespace: world.namespace };
      const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs }];
      await createAccount(world.cluster, account, [{ ...(namespace !== undefined && { namespace }), rules }]);
      return tokenOf(world.cluster, account);
    };
    const other = await world.cluster.namespace('other');
    tokens = {
      reader: await tokenWith('reader', ['get', 'list'], world.namespace),
      editor: await tokenWith('editor', ['get', 'patch', 'update'], world.namespace),
      stranger: await tokenWith('stranger', ['get', 'list', 'patch'], other),
      all: await tokenWith('all', ['get', 'list']),
    };
    const { host } = world.quiet;
    await pushImage({ host, repository: 'shop/web', tag: '1.0.0', content: 'old' });
    await world.createDeployment('web', `${host}/shop/web:1.0.0`);
    await world.createPolicy('web', `${host}/shop/web`, { strategy: 'SemVer' }, { update: { mode: 'Approval' } });
    await world.waitForFirstLook('web');
  });
  after(() => world.stop());

  const ask = (who: keyof typeof tokens, path: string, body?: object) =>
    resend(async () => {
      const response = await fetch(`${service.operationsUrl}/api/v1${path}`, {
        headers: { authorization: `Bearer ${tokens[who]}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Answer };
    });
  const path = () => `/policies/${world.namespace}/web`;

  it('shows a policy to those who may get it, and approves what it shows with the token of the caller', async () => {
    const { host } = world.quiet;
    await pushImage({ host, repository: 'shop/web', tag: '1.1.0', content: 'new' });
    await deliver(service, harborBody(host, 'shop/web', [{ tag: '1.1.0' }]));
    const { pendingApproval: pending } = await waitFor('the approval to be asked for', async () => {
      const { body } = await ask('reader', path());
      return body.state === 'ApprovalRequired' && body;
    });
    assert.equal(pending?.tag, '1.1.0');
    assert.equal((await ask('stranger', path())).status, 403);
    assert.deepEqual((await ask('stranger', '/policies')).body.policies, []);

    const refused = await ask('reader', `${path()}/approve`, pending);
    assert.equal(refused.status, 403);
    assert.match(refused.body.detail ?? '', /cannot patch resource "imagepolicies"/);
    assert.equal((await ask('editor', `${path()}/approve`, { ...pending, tag: '1.2.0' })).status, 409);
    const accepted = await ask('editor', `${path()}/approve`, { ...pending, reason: 'tested on staging' });
    assert.deepEqual([accepted.status, accepted.body.requested], [202, `1.1.0@${pending.digest}`]);
    await world.waitForImage('web', `${host}/shop/web:1.1.0`);
    const { requested } = (await ask('reader', path())).body as { requested?: unknown };
    assert.deepEqual(requested, {
      action: 'approve',
      user: `system:serviceaccount:${world.namespace}:editor`,
      reason: 'tested on staging',
    });
    const { metadata } = await world.cluster.request<{ metadata: { managedFields: { manager: string }[] } }>(
      'GET',
      world.policyPath('web'),
    );
    assert.ok(metadata.managedFields.some(({ manager }) => manager === 'image-watcher-api'));
  });

  it('records the push, what it led to, and who approved it and why, for those who may get the policy', async () => {
    for (const action of ['suspend', 'resume'])
      assert.equal((await ask('editor', `${path()}/${action}`, { reason: `${action} for a test` })).status, 202);
    const wanted = ['push', 'ApprovalRequired', 'approve', 'Updated', 'suspend', 'resume'];
    const { activity } = await waitFor('the activity of the policy', async () => {
      const { body } = await ask('reader', `/activity?policy=${world.namespace}/web`);
      const { success, data, error } = activityReads.list.answer.safeParse(body);
      assert.ok(success, JSON.stringify(error?.issues ?? body));
      const kinds: string[] = data.activity.map((one) =>
        one.type === 'change' ? one.kind : one.type === 'action' ? one.action : one.type,
      );
      return wanted.every((one) => kinds.includes(one)) && data;
    });
    const user = `system:serviceaccount:${world.namespace}:editor`;
    assert.deepEqual(
      activity.flatMap((one) => (one.type === 'action' ? [[one.action, one.user, one.why]] : [])),
      [
        ['resume', user, 'resume for a test'],
        ['suspend', user, 'suspend for a test'],
        ['approve', user, 'tested on staging'],
      ],
    );
    const push = activity.find((one) => one.type === 'push' && one.push.tag === '1.1.0');
    const [updated, ...again] = activity.filter((one) => one.type === 'change' && one.kind === 'Updated');
    assert.deepEqual(again, []);
    assert.equal(updated?.type === 'change' && updated.tag, '1.1.0');
    const asked = activity.find((one) => one.type === 'change' && one.kind === 'ApprovalRequired');
    assert.equal(asked?.type === 'change' && asked.event, push?.id);
    assert.deepEqual((await ask('stranger', '/activity')).body, { activity: [] });
  });

  it('handles a check, and what it answers fits the document', async () => {
    const { requested } = (await ask('editor', `${path()}/check`, {})).body;
    await waitFor('the check to be handled', async () => (await ask('reader', path())).body.status?.lastHandledRequest === requested);
    for (const { id, path: route, method, answer } of routes) {
      if (method !== 'GET' || route.includes('{id}') || id === 'streamPolicies') continue;
      const query = id === 'listPermittedIn' ? `?namespaces=${world.namespace}` : '';
      const { status, body } = await ask('all', `${route.replace('{namespace}', world.namespace).replace('{name}', 'web')}${query}`);
      const read = answer.safeParse(body);
      assert.ok(status === 200 && read.success, `${id}: ${status} ${JSON.stringify(read.error?.issues ?? body)}`);
      // Parsing leaves out what the document does not have.
      assert.deepEqual(read.data, body, id);
    }
  });

  /** The names of the events that a caller's stream has sent, in their order, with the policies that they are about. */
  async function follow(who: keyof typeof tokens) {
    const stop = new AbortController();
    const response = await fetch(`${service.operationsUrl}/api/v1/stream`, {
      headers: { authorization: `Bearer ${tokens[who]}` },
      signal: stop.signal,
    });
    assert.equal(response.status, 200);
    const seen: string[] = [];
    const ended = (async () => {
      let text = '';
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        const frames = text.split('\n\n');
        text = frames.pop() ?? '';
        for (const one of frames) {
          const [, event] = /^event: (.*)$/m.exec(one) ?? [];
          const { name = '', state = '' } = JSON.parse(/^data: (.*)$/m.exec(one)?.[1] ?? '{}') as { name?: string; state?: string };
          if (event !== undefined) seen.push([event, name, state].filter((part) => part !== '').join(' '));
        }
      }
    })().catch(() => undefined);
    return { seen, ended, stop: () => stop.abort() };
  }

  it('streams the changes that a caller may see, and again after a restart', async () => {
    const [own, strangers] = [await follow('reader'), await follow('stranger')];
    await ask('editor', `${path()}/suspend`, {});
    await waitFor('the suspension to be shown', () => own.seen.includes('policy web Suspended'));
    await service.restart();
    await own.ended;
    const again = await follow('reader');
    await ask('editor', `${path()}/resume`, {});
    await waitFor('the resumption to be shown', () => again.seen.some((event) => /^policy web (?!Suspended)/.test(event)));
    assert.equal(again.seen[0], 'open');
    assert.deepEqual(strangers.seen, ['open']);
    again.stop();
    await Promise.all([strangers.ended, again.ended]);
  });

  it('offers no actions unless they are on', async () => {
    const quiet = await world.start();
    const response = await fetch(`${quiet.operationsUrl}/api/v1${path()}/check`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.editor}`, 'content-type': 'application/json' },
      body: '{}',
    });
    assert.equal(response.status, 403);
    assert.match(((await response.json()) as Answer).detail ?? '', /operations\.actions/);
  });
});
