/** The first example of docs/base-images.md and its permission, as they stand: a base is pushed, and the application in another namespace runs the rebased image. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import type { Config } from '../../src/service/config/settings.ts';
import { basicAuthorization } from '../../src/service/registry/credential.ts';
import { pushReal } from '../bases/rebase/build.ts';
import { application, newBase } from '../bases/rebase/java-images.ts';
import { announce, startWorld, type World } from '../end-to-end/world.ts';
import { type RegistryProxy, startRegistryProxy } from '../harness/registry-proxy.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { fencesOf, pages } from './markdown.ts';

interface Policy {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly image: string };
}

const page = pages.find(({ path }) => path === 'docs/base-images.md') ?? assert.fail('there is no such page');
const [example, values] = fencesOf(page.text).filter(({ language }) => language === 'yaml');
const policy = parse(example?.body ?? '') as Policy;
const { consents } = (parse(values?.body ?? '') as { config: Pick<Config, 'consents'> }).config;
const robot = { username: 'robot', password: 'writes' };
const shop = 'team-shop';

let world: World;
let proxy: RegistryProxy;

before(async () => {
  world = await startWorld({ extraRules: shippedRules('work-rebase') });
  proxy = await startRegistryProxy(world.registry.host);
  // Everybody reads, and only the robot writes.
  proxy.fault = (method, _path, authorization) =>
    method === 'GET' || method === 'HEAD' || authorization === basicAuthorization(robot)
      ? undefined
      : { status: 401, headers: { 'www-authenticate': 'Basic realm="test"' } };
});
after(async () => {
  await proxy.stop();
  await world.stop();
});

test('the first policy in docs/base-images.md has at most ten lines, and needs one line of permission', () => {
  assert.ok((example?.body.trim().split('\n').length ?? Infinity) <= 10);
  assert.equal(
    values?.body
      .trim()
      .split('\n')
      .filter((line) => line.includes('[')).length,
    1,
  );
});

test('the first policy in docs/base-images.md works as it is written', async () => {
  const { cluster, registry } = world;
  const { metadata, spec } = policy;
  const [host = ''] = spec.image.split('/');
  const app = `${host}/shop/web`;
  const place = (name: string, tag: string) => ({ host: registry.host, repository: name.slice(host.length + 1), tag });
  // The registry of the page is the real one under another name.
  const registries = [{ host: proxy.host, aliases: [host, registry.host], insecure: true }];
  const base = { ...newBase, layers: application.layers.slice(0, 3) };
  await pushReal(place(spec.image, '21.0.1'), base);
  await pushReal(place(app, '1.2.3'), application);

  for (const name of [metadata.namespace, shop, 'operators']) await cluster.request('POST', '/api/v1/namespaces', { metadata: { name } });
  await cluster.request('POST', '/api/v1/namespaces/operators/secrets', {
    metadata: { name: 'oci-registry-creds' },
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': JSON.stringify({ auths: { [proxy.host]: robot } }) },
  });
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: `${app}:1.2.3` }] } };
  const deployments = `/apis/apps/v1/namespaces/${shop}/deployments`;
  await cluster.request('POST', deployments, { metadata: { name: 'web' }, spec: { selector: { matchLabels: labels }, template } });

  const unpermitted = consents.map((consent) => ({ ...consent, push: [] }));
  const first = await world.start({ config: { registries, consents: unpermitted } });
  const policies = `/apis/operator.technomad.dev/v1/namespaces/${metadata.namespace}/baseimagepolicies`;
  await cluster.request('POST', policies, policy);
  const read = async () => (await cluster.request<{ status?: BaseStatus }>('GET', `${policies}/${metadata.name}`)).status;
  const waitForMessage = (what: string, pattern: RegExp) =>
    waitFor(what, async () => pattern.test((await read())?.conditions?.find(({ type }) => type === 'Ready')?.message ?? ''));

  // The permission is missed before it is needed, and its text can be added as it is.
  await waitForMessage(
    'the missing permission to be named',
    /^no image is behind 21\.0\.1 \(of 1\); .* nothing permits to push them: add /,
  );
  const message = (await read())?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
  const [, added = ''] = /add (\{.*?\}) to consents/.exec(message) ?? assert.fail(message);
  assert.deepEqual(parse(added), { policiesFrom: metadata.namespace, push: [`${proxy.host}/shop/web`] });
  await first.stop();

  const service = await world.start({ config: { registries, consents } });
  await announce(registry, service);
  await waitForMessage('the permission to be there', /^no image is behind 21\.0\.1 \(of 1\)$/);
  await pushReal(place(spec.image, '21.0.2'), newBase);
  const image = await waitFor('the application to run the rebased image', async () => {
    const found = await cluster.request<{ spec: { template: { spec: { containers: { image: string }[] } } } }>('GET', `${deployments}/web`);
    const [container] = found.spec.template.spec.containers;
    return container?.image.includes('-base.') && container.image;
  });
  assert.match(image, new RegExp(`^${app}:1\\.2\\.3-base\\.\\d{8}$`));
});
