/** Deployments of GitHub, against a small server with the same endpoints: once for each policy and revision, in the right order, for allowed repositories only. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import type { Notice, NoticeKind } from '../../src/core/model/notice.ts';
import { deliver } from '../../src/notify/deliver.ts';
import type { ConfiguredTarget } from '../../src/core/model/configured-target.ts';
import { exchange } from '../../src/service/proxy/exchange.ts';

const at = '2026-11-23T12:00:00Z';
const revision = 'a'.repeat(40);

interface Deployment {
  readonly order: { readonly ref: string; readonly environment: string; readonly task: string; readonly payload: object };
  readonly statuses: { readonly state: string; readonly description: string; readonly log_url?: string }[];
}

/** The endpoints as https://docs.github.com/en/rest/deployments describes them. */
async function startGithub(
  t: TestContext,
  { token = 't0ken', fail }: { token?: string; fail?: (request: IncomingMessage) => number | undefined } = {},
) {
  const deployments: Deployment[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const answer = (status: number, body: unknown) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      const failure = fail?.(request);
      const body = request.method === 'POST' ? ((await json(request)) as never) : undefined;
      if (failure !== undefined) return answer(failure, { message: 'broken' });
      if (request.headers.authorization !== `Bearer ${token}`) return answer(401, { message: 'Bad credentials' });
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
      if (pathname === '/api/v3/rate_limit') return answer(200, {});
      const [, id = '', list] = /^\/api\/v3\/repos\/shop\/web\/deployments(?:\/(\d+)\/(statuses))?$/.exec(pathname) ?? [];
      if (list === 'statuses') {
        const found = deployments[Number(id) - 1];
        if (body === undefined) return answer(200, (found?.statuses ?? []).map((one) => ({ ...one, created_at: at })).toReversed());
        found?.statuses.push(body);
        return answer(201, {});
      }
      if (!pathname.endsWith('/shop/web/deployments')) return answer(404, { message: 'Not Found' });
      if (body !== undefined) {
        deployments.push({ order: body, statuses: [] });
        return answer(201, { id: deployments.length });
      }
      const wanted = ({ order }: Deployment) =>
        order.ref === searchParams.get('sha') &&
        order.environment === searchParams.get('environment') &&
        order.task === searchParams.get('task');
      answer(200, deployments.flatMap((one, index) => (wanted(one) ? [{ id: index + 1 }] : [])).toReversed());
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const target: ConfiguredTarget = {
    name: 'github',
    kind: 'githubDeployment',
    events: [],
    namespaces: [],
    insecure: true,
    forge: { environment: 'production', repositories: ['shop/*'] },
    url: () => `http://127.0.0.1:${port}/api/v3`,
    secret: () => 't0ken',
  };
  const origin = { repository: `https://127.0.0.1:${port}/shop/web`, revision };
  const report = async (
    kind: NoticeKind,
    { source = origin, more = {}, name = 'web' }: { source?: object; more?: Partial<ConfiguredTarget>; name?: string } = {},
  ) => {
    const notice: Notice = {
      kind,
      subject: { kind: 'ImagePolicy', namespace: 'shop', name, uid: 'u1' },
      at,
      tag: '1.4.2',
      message: `why ${kind}`,
    };
    return deliver(
      { ...target, ...more },
      { type: 'notice', notice, origins: { now: source as typeof origin } },
      {
        id: 'id-1',
        exchange: (url, request, options) => exchange(url, request, { ...options, fetch, now: Date.now }),
        mail: () => Promise.reject(new Error('not used')),
        dashboardUrl: 'https://images.example.com',
        now: Date.now,
        signal: new AbortController().signal,
      },
    );
  };
  return { deployments, report, origin, port };
}

describe('a deployment of GitHub', () => {
  it('begins with the update, and ends with the rollout', async (t) => {
    const { deployments, report } = await startGithub(t);
    for (const kind of ['Updated', 'RolledOut'] as const) assert.equal((await report(kind)).kind, 'sent');
    const [{ order, statuses } = assert.fail(), ...others] = deployments;
    assert.deepEqual(others, []);
    assert.deepEqual(
      [order.ref, order.environment, order.task, order.payload],
      [revision, 'production', 'deploy:shop/web', { policy: 'shop/web', tag: '1.4.2' }],
    );
    const log_url = 'https://images.example.com/policies/shop/web';
    assert.deepEqual(statuses, [
      { state: 'in_progress', description: 'why Updated', log_url },
      { state: 'success', description: 'why RolledOut', log_url },
    ]);
  });

  it('fails with the rollout, and stays failed when the update is reported late', async (t) => {
    const { deployments, report } = await startGithub(t);
    await report('RolloutFailed');
    assert.match((await report('Updated')).message, /later state/);
    assert.deepEqual(
      deployments.map(({ statuses }) => statuses.map(({ state }) => state)),
      [['failure']],
    );
  });

  it('of the former image succeeds with a rollback, and does not say why the newer image failed', async (t) => {
    const { deployments, report } = await startGithub(t);
    await report('RolledBack');
    assert.deepEqual(
      deployments.flatMap(({ statuses }) => statuses.map(({ state, description }) => [state, description])),
      [['success', 'shop/web rolled back to 1.4.2']],
    );
  });

  it('is one for each policy', async (t) => {
    const { deployments, report } = await startGithub(t);
    for (const name of ['web', 'api', 'web']) await report('Updated', { name });
    assert.equal(deployments.length, 2);
  });

  it('is not reported for another host, another repository, without a revision, or for a notice about no deployment', async (t) => {
    const { deployments, report, origin, port } = await startGithub(t);
    for (const source of [
      { ...origin, repository: 'https://gitlab.com/shop/web' },
      { ...origin, repository: `https://127.0.0.1:${port}/secret/repository` },
      { repository: origin.repository },
      { ...origin, revision: 'abcdef1' },
    ])
      assert.match((await report('Updated', { source })).message, /^nothing to report: /);
    assert.match((await report('Blocked')).message, /^nothing to report: /);
    assert.deepEqual(deployments, []);
  });

  it('is reported again if GitHub or the token fails, without the token in the message', async (t) => {
    const { report } = await startGithub(t, { fail: ({ method }) => (method === 'POST' ? 503 : undefined) });
    const result = await report('Updated');
    assert.deepEqual([result.kind, /POST .* was answered 503/.test(result.message)], ['failed', true]);
    const wrong = await report('Updated', { more: { secret: () => 'wr0ng-t0ken' } });
    assert.equal(wrong.kind, 'failed');
    assert.match(wrong.message, /401/);
    assert.doesNotMatch(wrong.message, /wr0ng/);
  });

  it('is not reported to a configured API over http, unless insecure allows that', async (t) => {
    const { report } = await startGithub(t);
    const refused = await report('Updated', { more: { insecure: false } });
    assert.deepEqual([refused.kind, /does not begin with https:/.test(refused.message)], ['failed', true]);
  });
});
