/** Every push and its result through the API and the commands, with the rights of real service accounts. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { EventView } from '../../src/service/api/event-view.ts';
import { openKubeClient, type KubeClient } from '../../src/service/kube/client.ts';
import { reviewAccess, reviewToken } from '../../src/service/kube/review-access.ts';
import { mainProgram } from '../harness/program.ts';
import { pushImage } from '../harness/push-image.ts';
import { resend } from '../harness/resend.ts';
import { createAccount, tokenOf } from '../harness/service-account.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { GiveUp, waitFor } from '../harness/wait-for.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

/** A token of a new service account with these verbs on imagepolicies, in one namespace or in all. */
async function tokenWith({ cluster, namespace }: World, name: string, verbs: string[], where: string | undefined): Promise<string> {
  const account = { name, namespace };
  const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs }];
  await createAccount(cluster, account, [{ ...(where !== undefined && { namespace: where }), rules }]);
  return tokenOf(cluster, account);
}

describe('events', () => {
  let world: World;
  let service: Service;
  let client: KubeClient;
  let other = '';
  let tokens: Record<'reader' | 'editor' | 'stranger' | 'all', string>;

  before(async () => {
    world = await startWorld();
    other = await world.cluster.namespace('other');
    service = await world.start();
    client = await openKubeClient({ kubeconfig: world.cluster.kubeconfigPath, requestTimeoutMs: 60_000 });
    tokens = {
      reader: await tokenWith(world, 'reader', ['get', 'list'], world.namespace),
      editor: await tokenWith(world, 'editor', ['get', 'update'], world.namespace),
      stranger: await tokenWith(world, 'stranger', ['get'], other),
      all: await tokenWith(world, 'all', ['get', 'list', 'update'], undefined),
    };
  });
  after(async () => {
    await client.close();
    await world.stop();
  });

  const ask = (token: string, path: string, method?: string) => resend(() => askOnce(token, path, method));
  async function askOnce(token: string, path: string, method = 'GET') {
    const headers = { authorization: `Bearer ${token}`, ...(method === 'POST' && { 'content-type': 'application/json' }) };
    const response = await fetch(`${service.operationsUrl}${path}`, { method, headers });
    return { status: response.status, body: (await response.json()) as { events: EventView[]; id: string } & EventView };
  }

  it('check tokens and permissions at the API server', async () => {
    const caller = await reviewToken(client, tokens.reader);
    assert.ok(caller);
    assert.equal(caller.user, `system:serviceaccount:${world.namespace}:reader`);
    assert.ok(caller.groups.includes('system:authenticated') && caller.uid);
    assert.equal(await reviewToken(client, 'nobodys'), undefined);
    const may = (verb: string, namespace?: string) =>
      reviewAccess(client, caller, { group: 'operator.technomad.dev', resource: 'imagepolicies', verb, namespace });
    assert.deepEqual(
      [await may('get', world.namespace), await may('update', world.namespace), await may('get', other), await may('get')],
      [true, false, false, false],
    );
  });

  it('show a push with its policy to those who may get it, and replay it for those who may update it', async () => {
    const { host } = world.quiet;
    await pushImage({ host, repository: 'shop/web', tag: '1.0.0', content: 'old' });
    await world.createDeployment('web', `${host}/shop/web:1.0.0`);
    await world.createPolicy('web', `${host}/shop/web`, { strategy: 'SemVer' });
    await world.waitForFirstLook('web');
    await pushImage({ host, repository: 'shop/web', tag: '1.1.0', content: 'new' });
    const { accepted } = await deliver(service, harborBody(host, 'shop/web', [{ tag: '1.1.0' }]));
    const id = accepted[0]?.id ?? '';
    await world.waitForImage('web', `${host}/shop/web:1.1.0`);
    const event = await waitFor('the result of the push', async () => {
      const { body } = await ask(tokens.reader, `/api/v1/events/${id}`);
      return body.outcome === 'updated' && body;
    });
    const [policy] = event.policies;
    assert.deepEqual(
      [policy?.namespace, policy?.name, policy?.outcome, policy?.reason, policy?.tag],
      [world.namespace, 'web', 'updated', 'Updated', '1.1.0'],
    );
    assert.ok(typeof policy?.afterMs === 'number');
    const list = await ask(tokens.reader, `/api/v1/events?repository=${encodeURIComponent(`${host}/shop/web`)}&outcome=updated`);
    assert.deepEqual(
      list.body.events.map((found) => found.id),
      [id],
    );

    assert.deepEqual((await ask(tokens.stranger, '/api/v1/events')).body.events, []);
    assert.equal((await ask(tokens.stranger, `/api/v1/events/${id}`)).status, 404);
    assert.equal((await ask('nobodys', '/api/v1/events')).status, 401);
    assert.equal((await ask(tokens.reader, `/api/v1/events/${id}/replay`, 'POST')).status, 403);
    const replayed = await ask(tokens.editor, `/api/v1/events/${id}/replay`, 'POST');
    assert.equal(replayed.status, 202);
    const again = await waitFor('the result of the replay', async () => {
      const { body } = await ask(tokens.editor, `/api/v1/events/${replayed.body.id}`);
      return body.outcome === 'unchanged' && body;
    });
    assert.equal(again.replayOf, id);
  });

  it('show unwatched pushes to those who may list all policies', async () => {
    const { accepted } = await deliver(service, harborBody(world.quiet.host, 'lonely/app', [{ tag: '1' }]));
    const id = accepted[0]?.id ?? '';
    await waitFor('the push to be at an end', async () => (await ask(tokens.all, `/api/v1/events/${id}`)).body.outcome === 'unwatched');
    assert.equal((await ask(tokens.reader, `/api/v1/events/${id}`)).status, 404);
  });

  it('show what a receiver ignored, with its reason, to those who may list all policies', async () => {
    const { host } = world.quiet;
    const { ignored } = await deliver(service, harborBody(host, 'shop/untagged', [{ tag: '', digest: `sha256:${'5'.repeat(64)}` }]));
    assert.equal(ignored.length, 1);
    const query = `/api/v1/events?outcome=ignored&repository=${encodeURIComponent(`${host}/shop/untagged`)}`;
    const [event] = await waitFor('the record', async () => {
      const { events } = (await ask(tokens.all, query)).body;
      return events.length > 0 && events;
    });
    const { id = '', reason, message, receiver, repository, policies } = event ?? {};
    assert.deepEqual(
      { reason, message, receiver, repository, policies },
      { reason: 'NoTag', message: ignored[0]?.reason, receiver: 'harbor', repository: 'shop/untagged', policies: [] },
    );
    for (const token of [tokens.reader, tokens.editor, tokens.stranger]) {
      assert.deepEqual((await ask(token, query)).body.events, []);
      assert.equal((await ask(token, `/api/v1/events/${id}`)).status, 404);
    }
    assert.equal((await ask(tokens.all, `/api/v1/events/${id}/replay`, 'POST')).status, 409);
  });

  it('are refused with a reason by a process that cannot authenticate callers at the API server', async () => {
    const receiver = await world.start({ roles: 'receive' });
    const response = await fetch(`${receiver.operationsUrl}/api/v1/events`, { headers: { authorization: `Bearer ${tokens.all}` } });
    assert.equal(response.status, 503);
    assert.match(await response.text(), /does not have the role work/);
  });

  it('are available on the command line', async () => {
    const tokenFile = join(tempFolder('token'), 'token');
    writeFileSync(tokenFile, `${tokens.all}\n`);
    const main = await mainProgram();
    const runOnce = async (...args: string[]) =>
      (await promisify(execFile)(process.execPath, [main, ...args, '--server', service.operationsUrl, '--insecure'])).stdout;
    const run = (...args: string[]) =>
      waitFor('an answer other than 503', () =>
        runOnce(...args).catch((error: Error) => {
          throw /answered 503/.test(error.message) ? error : new GiveUp(error.message, { cause: error });
        }),
      );
    const text = await run('events', '--token-file', tokenFile);
    assert.match(text, /updated {4}.*shop\/web:1\.1\.0.*\n {4}.*\/web: updated after \d+ ms \(Updated\)/);
    const [event] = JSON.parse(await run('events', '--token-file', tokenFile, '--outcome', 'unwatched', '-o', 'json')) as EventView[];
    assert.equal(event?.repository, 'lonely/app');
    assert.match(
      await run('events', '--token-file', tokenFile, '--outcome', 'ignored'),
      /ignored {4}.*shop\/untagged {2}harbor {2}.*\n {4}NoTag: /,
    );
    const kubeconfig = ['--kubeconfig', world.cluster.kubeconfigPath];
    assert.match(await run('replay', event.id, ...kubeconfig), /^replayed as [0-9a-f]{64}$/m);
    await waitFor(
      'the replay to be listed',
      async () => (await run('events', ...kubeconfig, '--repository', `${world.quiet.host}/lonely/app`)).trim().split('\n').length >= 2,
    );
    await assert.rejects(
      run('replay', 'missing', ...kubeconfig),
      ({ cause }: { cause?: { code?: number; stderr?: string } }) =>
        cause?.code === 1 && /answered 404: the event does not exist/.test(cause.stderr ?? ''),
    );
  });
});
