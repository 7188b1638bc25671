/** Statuses of commits at GitLab, Gitea and Bitbucket, against a small server with their endpoints. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import type { ConfiguredTarget } from '../../src/core/model/configured-target.ts';
import type { ImageOrigin } from '../../src/core/model/image-origin.ts';
import type { Notice, NoticeKind } from '../../src/core/model/notice.ts';
import { statusTypes, type StatusType } from '../../src/core/model/notification-target.ts';
import { deliver, type DeliveryMeans } from '../../src/notify/deliver.ts';
import { findCommit } from '../../src/notify/forge-report.ts';
import type { Content } from '../../src/notify/message.ts';
import { exchange } from '../../src/service/proxy/exchange.ts';

const at = '2026-11-23T12:00:00Z';
const later = '2026-11-23T12:00:01Z';
const revision = 'a'.repeat(40);

type Fields = Readonly<Record<string, unknown>>;

/** What a host does, as its documentation describes it. */
interface Host {
  readonly api: string;
  readonly authorization: string;
  readonly test: string;
  readonly list: string;
  readonly post: string;
  /** The response to the list, of what was posted at `later`. */
  readonly show: (posted: readonly Fields[]) => unknown;
  /** Whether it refuses a status after the last one. */
  readonly refuses?: (last: Fields, next: Fields) => boolean;
  readonly name: (status: Fields) => unknown;
  readonly states: readonly [pending: string, running: string, success: string, failure: string];
  readonly link: string;
}

const hosts: Readonly<Record<StatusType, Host>> = {
  gitlabStatus: {
    api: '/api/v4',
    authorization: 'Bearer t0ken',
    test: '/version',
    list: `/projects/shop%2Fweb/repository/commits/${revision}/statuses`,
    post: `/projects/shop%2Fweb/statuses/${revision}`,
    show: (posted) => posted.map(({ state, name }, id) => ({ id, status: state, name, created_at: later, finished_at: null })),
    // https://gitlab.com/gitlab-org/gitlab-foss/-/issues/25807
    refuses: (last, next) =>
      (last['state'] === 'running' && ['running', 'pending'].includes(String(next['state']))) ||
      (last['state'] === 'pending' && next['state'] === 'pending'),
    name: ({ name }) => name,
    states: ['pending', 'running', 'success', 'failed'],
    link: 'target_url',
  },
  giteaStatus: {
    api: '/api/v1',
    authorization: 'token t0ken',
    test: '/repos/search',
    list: `/repos/shop/web/statuses/${revision}`,
    post: `/repos/shop/web/statuses/${revision}`,
    show: (posted) => posted.map(({ state, context }, id) => ({ id, status: state, context, created_at: later, updated_at: later })),
    name: ({ context }) => context,
    states: ['pending', 'pending', 'success', 'failure'],
    link: 'target_url',
  },
  bitbucketStatus: {
    api: '/2.0',
    authorization: 'Bearer t0ken',
    test: '/hook_events',
    list: `/repositories/shop/web/commit/${revision}/statuses`,
    post: `/repositories/shop/web/commit/${revision}/statuses/build`,
    // A status replaces the former one with its key.
    show: (posted) => ({
      values: [...new Map(posted.map((one) => [one['key'], one])).values()].map((one) => ({ ...one, updated_on: later })),
    }),
    name: ({ name, key }) => (typeof key === 'string' && key.length <= 40 ? name : `a key of ${String(key)}`),
    states: ['INPROGRESS', 'INPROGRESS', 'SUCCESSFUL', 'FAILED'],
    link: 'url',
  },
};

async function startHost(t: TestContext, kind: StatusType, { fail }: { fail?: (request: IncomingMessage) => number | undefined } = {}) {
  const host = hosts[kind];
  const posted: Fields[] = [];
  const paths: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const answer = (status: number, body: unknown) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      const [path = ''] = (request.url ?? '').split('?');
      const body = request.method === 'POST' ? ((await json(request)) as Fields) : undefined;
      paths.push(path);
      const failure = fail?.(request);
      if (failure !== undefined) return answer(failure, { message: 'broken' });
      if (request.headers.authorization !== host.authorization) return answer(401, { message: 'Unauthorized' });
      if (body === undefined && path === `${host.api}${host.test}`) return answer(200, {});
      if (body === undefined && path === `${host.api}${host.list}`) return answer(200, host.show(posted));
      if (body === undefined || path !== `${host.api}${host.post}`) return answer(404, { message: 'Not Found' });
      const last = posted.findLast((one) => host.name(one) === host.name(body));
      if (last !== undefined && host.refuses?.(last, body) === true) return answer(400, { message: 'Cannot transition status' });
      posted.push(body);
      answer(201, {});
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
    name: 'statuses',
    kind,
    events: [],
    namespaces: [],
    insecure: true,
    forge: { environment: 'production', repositories: ['shop/*'] },
    url: () => `http://127.0.0.1:${port}${host.api}/`,
    secret: () => 't0ken',
  };
  const origin: ImageOrigin = { repository: `https://127.0.0.1:${port}/shop/web`, revision };
  const send = (content: Content, more: Partial<ConfiguredTarget> = {}, means: Partial<DeliveryMeans> = {}) =>
    deliver({ ...target, ...more }, content, {
      id: 'id-1',
      exchange: (url, request, options) => exchange(url, request, { ...options, fetch, now: Date.now }),
      mail: () => Promise.reject(new Error('not used')),
      dashboardUrl: 'https://images.example.com',
      signLink: () => 'a-signed-link',
      now: Date.now,
      signal: new AbortController().signal,
      ...means,
    });
  const report = (
    notified: NoticeKind,
    {
      source = origin,
      more = {},
      name = 'web',
      when = at,
    }: { source?: ImageOrigin; more?: Partial<ConfiguredTarget>; name?: string; when?: string } = {},
  ) => {
    const subject = { kind: 'ImagePolicy', namespace: 'shop', name, uid: 'u1' } as const;
    const notice: Notice = { kind: notified, subject, at: when, tag: '1.4.2', message: `why ${notified}` };
    return send({ type: 'notice', notice, origins: { now: source } }, more);
  };
  const states = () => posted.map(({ state }) => state);
  return { host, posted, paths, report, send, states, origin, port };
}

for (const kind of statusTypes)
  describe(`a status of a commit with ${kind}`, () => {
    it('follows the rollout, under one name for each policy and environment', async (t) => {
      const { host, posted, report, states } = await startHost(t, kind);
      for (const notified of ['ApprovalRequired', 'Updated', 'RolledOut'] as const) assert.equal((await report(notified)).kind, 'sent');
      const [pending, running, success] = host.states;
      assert.deepEqual(states(), [pending, running, success]);
      assert.deepEqual([...new Set(posted.map(host.name))], ['production: shop/web']);
      assert.deepEqual(
        posted.map(({ description }) => description),
        ['why ApprovalRequired', 'why Updated', 'why RolledOut'],
      );
      // The signed link approves, and everybody who sees the commit sees the address.
      assert.deepEqual([...new Set(posted.map((one) => one[host.link]))], ['https://images.example.com/policies/shop/web']);
      await report('Updated', { name: 'api' });
      assert.equal(host.name(posted.at(-1) ?? {}), 'production: shop/api');
    });

    it('fails with the rollout, and stays failed when the update is reported late', async (t) => {
      const { host, report, states } = await startHost(t, kind);
      await report('RolloutFailed');
      assert.match((await report('Updated')).message, /later state/);
      assert.deepEqual(states(), [host.states[3]]);
    });

    it('is pending again with a later update of the same commit', async (t) => {
      const { host, report, states } = await startHost(t, kind);
      await report('RolloutFailed');
      await report('Updated', { when: '2026-11-23T13:00:00Z' });
      assert.deepEqual(states(), [host.states[3], host.states[1]]);
    });

    it('of the former image succeeds with a rollback, and does not say why the newer image failed', async (t) => {
      const { host, posted, report } = await startHost(t, kind);
      await report('RolledBack');
      assert.deepEqual(
        posted.map(({ state, description }) => [state, description]),
        [[host.states[2], 'shop/web rolled back to 1.4.2']],
      );
    });

    it('is accepted when the same notice is reported twice, or an approval after the update', async (t) => {
      const { report } = await startHost(t, kind);
      for (const notified of [
        'ApprovalRequired',
        'ApprovalRequired',
        'Updated',
        'Updated',
        'ApprovalRequired',
        'RolledOut',
        'RolledOut',
      ] as const)
        assert.equal((await report(notified)).kind, 'sent', notified);
    });

    it('is not set for another host, another repository, a short revision or a notice without a state', async (t) => {
      const { paths, report, send, origin, port } = await startHost(t, kind);
      for (const source of [
        { ...origin, repository: 'https://git.example.org/shop/web' },
        { ...origin, repository: `https://127.0.0.1:${port}/secret/repository` },
        { ...origin, revision: 'abcdef1' },
        { repository: origin.repository },
      ])
        assert.match((await report('Updated', { source })).message, /^nothing to report: /);
      assert.match((await report('Blocked')).message, /^nothing to report: /);
      const summary = await send({ type: 'summary', target: 'statuses', at, notices: [], more: 1 });
      assert.match(summary.message, /^nothing to report: /);
      assert.deepEqual(paths, []);
    });

    it('is reported again if the host or the token fails, without the token in the message', async (t) => {
      const { report } = await startHost(t, kind, { fail: ({ method }) => (method === 'POST' ? 503 : undefined) });
      const result = await report('Updated');
      assert.deepEqual([result.kind, /POST .* was answered 503/.test(result.message)], ['failed', true]);
      const wrong = await report('Updated', { more: { secret: () => 'wr0ng-t0ken' } });
      assert.equal(wrong.kind, 'failed');
      assert.match(wrong.message, /401/);
      assert.doesNotMatch(wrong.message, /wr0ng/);
    });

    it('is tested without being set', async (t) => {
      const { posted, send } = await startHost(t, kind);
      const test = { type: 'test', target: 'statuses', at } as const;
      assert.equal((await send(test)).kind, 'sent');
      assert.equal((await send(test, { secret: () => 'another' })).kind, 'failed');
      assert.deepEqual(posted, []);
    });
  });

describe('the address of a status', () => {
  it('is made only for a repository on the host of the API, whose name may begin with api', () => {
    const commitOf = (repository: string, api: string) => findCommit({ repository, revision }, { api: new URL(api) });
    assert.deepEqual(commitOf('https://bitbucket.org/shop/web', 'https://api.bitbucket.org/2.0'), { path: 'shop/web', revision });
    assert.ok('why' in commitOf('https://bitbucket.org.example.com/shop/web', 'https://api.bitbucket.org/2.0'));
    assert.ok('why' in commitOf('https://gitlab.com:8443/shop/web', 'https://gitlab.com/api/v4'));
  });

  it('has the path of a nested project for a GitLab whose host does not have its name', async (t) => {
    const { paths, report, origin } = await startHost(t, 'gitlabStatus');
    await report('RolledOut', { source: { ...origin, fullPath: 'shop/sub/web' } });
    assert.deepEqual(paths, [`/api/v4/projects/shop%2Fsub%2Fweb/statuses/${revision}`]);
  });

  it('contains texts of an image only encoded', async (t) => {
    const { paths, report, port } = await startHost(t, 'giteaStatus');
    // No such source is read from an image; if one was, it would stay one part of the path.
    await report('RolledOut', { source: { repository: `https://127.0.0.1:${port}/shop/web%2F..%2F..%2Fadmin`, revision } });
    assert.deepEqual(paths, [`/api/v1/repos/shop/web%252F..%252F..%252Fadmin/statuses/${revision}`]);
  });

  it('of bitbucket links to the documentation if there is no dashboard, because a link is required', async (t) => {
    const { posted, send, origin } = await startHost(t, 'bitbucketStatus');
    const subject = { kind: 'ImagePolicy', namespace: 'shop', name: 'web', uid: 'u1' } as const;
    const notice: Notice = { kind: 'RolledOut', subject, at };
    await send({ type: 'notice', notice, origins: { now: origin } }, {}, { dashboardUrl: undefined });
    assert.match(String(posted[0]?.['url']), /^https:\/\/.+\/notifications\.md$/);
  });
});
