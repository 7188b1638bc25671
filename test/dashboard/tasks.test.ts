/** Everyday tasks by links and forms alone, from the first page: each takes at most three clicks. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { digestOf } from '../core/model/samples.ts';
import { policies } from './example-policies.ts';
import { exampleOptions } from './example.ts';
import { openDashboard } from './start-dashboard.ts';

const maxClicks = 3;

/** Decodes the entities that the pages write. */
const decode = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
const textOf = (html: string) =>
  decode(html.replaceAll(/<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
const attribute = (tag: string, name: string) => decode(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '');

/** Somebody with a browser without JavaScript, who sees the first page. */
async function visit(t: TestContext, options: Parameters<typeof openDashboard>[1] = exampleOptions()) {
  const { get, submit } = openDashboard(t, options);
  let clicks = 0;
  let page = (await get('/')).text;
  const open = async (answer: Awaited<ReturnType<typeof get>>): Promise<void> => {
    if (answer.location !== undefined) return open(await get(answer.location));
    assert.equal(answer.status, 200);
    page = answer.text;
  };
  const count = () => assert.ok(++clicks <= maxClicks, `${clicks} clicks`);
  return {
    sees: (expected: RegExp) => assert.match(textOf(page), expected),
    /** Follows the first link with this text. */
    async click(text: string) {
      count();
      const links = [...page.matchAll(/<a (?<tag>[^>]*)>(?<text>.*?)<\/a>/gs)];
      const link = links.find(({ groups }) => textOf(groups?.['text'] ?? '') === text);
      assert.ok(
        link?.groups !== undefined,
        `a link "${text}" in: ${links.map(({ groups }) => textOf(groups?.['text'] ?? '')).join(' | ')}`,
      );
      const href = attribute(` ${link.groups['tag']}`, 'href');
      assert.ok(href.startsWith('/'), href);
      await open(await get(href.split('#')[0] ?? ''));
    },
    /** Fills in the first form that has all these fields, and sends it. What it has already is sent as well. */
    async send(fields: Readonly<Record<string, string>>, action?: string) {
      count();
      const forms = [...page.matchAll(/<form (?<tag>[^>]*)>(?<body>.*?)<\/form>/gs)].map(({ groups }) => groups ?? {});
      const form = forms.find(
        ({ tag = '', body = '' }) =>
          (action === undefined || attribute(` ${tag}`, 'action') === action) &&
          Object.keys(fields).every((name) => body.includes(` name="${name}"`)),
      );
      assert.ok(form !== undefined, `a form with ${Object.keys(fields).join(', ')}`);
      const { tag = '', body = '' } = form;
      const given = [...body.matchAll(/<input[^>]*>/g)]
        .map(([input]) => input)
        .filter((input) => !/type="(?:checkbox|radio)"/.test(input) || / checked/.test(input))
        .map((input) => [attribute(input, 'name'), attribute(input, 'value')] as const)
        .filter(([name, value]) => name !== '' && value !== '' && !Object.hasOwn(fields, name));
      const values: (readonly [string, string])[] = [...given, ...Object.entries(fields)];
      const path = attribute(` ${tag}`, 'action');
      if (attribute(` ${tag}`, 'method') === 'post') return open(await submit(path, values));
      return open(await get(`${path}?${new URLSearchParams(values.map(([name, value]): [string, string] => [name, value])).toString()}`));
    },
  };
}

test('a user finds out in three clicks why a push has not been applied', async (t) => {
  const { click, send, sees } = await visit(t);
  await send({ q: 'cart' });
  await click('shop/ cart');
  sees(/The way of the last push 1\.9\.0 .* Permitted waits here .* 1\.9\.0 waits for approval/);
});

test('a user approves five images in three clicks', async (t) => {
  const waiting = policies.find(({ name }) => name === 'cart');
  assert.ok(waiting !== undefined);
  const five = Array.from({ length: 5 }, (_, index) => ({ ...waiting, namespace: `shop-${index}`, uid: `uid-${index}` }));
  const find = (namespace: string) => five.find((one) => one.namespace === namespace);
  const { click, send, sees } = await visit(t, { ...exampleOptions(), policies: { all: () => five, find } });
  await click('Approve all 5');
  await send({}, '/approvals/confirm');
  sees(/Approve these 5 images\?/);
  await send({ reason: 'tested' }, '/approvals');
  sees(/(?:shop-\d\/ ?cart 1\.9\.0 : Requested: Approve\..*){5}/);
});

test('a user rolls back in three clicks, and sees that the failed image is held', async (t) => {
  const { click, send, sees } = await visit(t);
  await click('Roll back');
  sees(/still running on 2 workloads/);
  await send({ reason: 'card payments fail' }, '/policies/rollback');
  sees(/shop-eu\/ ?payments : Requested: Roll back/);
  await click('shop-eu/ payments');
  sees(/harbor\.example\.com\/shop\/payments:5\.1\.0 fails its rollout/);
});

test('a user finds out in three clicks where a digest runs', async (t) => {
  const { send, sees } = await visit(t);
  await send({ q: digestOf('f') });
  sees(/2 containers .* shop-eu\/ storefront Deployment.* shop\/ storefront Deployment/);
});

test('a user finds out in three clicks who changed what on a day', async (t) => {
  const { click, send, sees } = await visit(t);
  await click('Activity');
  await send({ from: '2026-03-01T00:00', to: '2026-03-02T00:00', type: 'action' });
  sees(/grace@example\.com/);
});

test('a user finds out in three clicks whether a webhook works', async (t) => {
  const { click, sees } = await visit(t);
  await click('Setup and health');
  sees(/harbor harbor Delivers/);
});

test('a user finds in three clicks how to set up a receiver', async (t) => {
  const { click, sees } = await visit(t);
  await click('Setup and health');
  sees(/https:\/\/hooks\.example\.com\/webhooks\/ci .* How to set it up \(generic\)/);
});

test('a user finds out in three clicks which images are behind a base', async (t) => {
  const { click, sees } = await visit(t);
  await click('Bases');
  await click('platform/ java');
  sees(/Images on the base .* Behind/);
});

test('a user finds out in three clicks what happened between two times', async (t) => {
  const { click, send, sees } = await visit(t);
  await click('Activity');
  await send({ from: '2026-03-01T11:45', to: '2026-03-01T11:55' });
  sees(/ada@example\.com asked for a rollback of .*“Payments by card fail since 4\.11\.1”/);
});

test('a user exports the activity in three clicks', async (t) => {
  const { click, sees } = await visit(t);
  await click('Activity');
  await click('As CSV');
  sees(/rollback.*ada@example\.com/);
});
