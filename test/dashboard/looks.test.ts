/**
 * Every page in a real browser: in five widths, light and dark, in both languages, from the keyboard, for axe, and with 10,000 policies. With SCREENSHOTS set to a
 * folder, the pictures of docs/dashboard.md are written there: `npm run screenshots`.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ImagePolicy } from '../../src/core/model/image-policy.ts';
import { createPolicyFeed, type PolicyChange } from '../../src/service/api/stream.ts';
import { lacksChromium } from '../harness/binaries.ts';
import { digestOf, policyOf } from '../core/model/samples.ts';
import { fitsItsWidth, isAccessible, startBrowser, type OpenBrowser } from './browser.ts';
import { eventTime } from '../service/api/fake-events.ts';
import { exampleOptions } from './example.ts';
import { openDashboard } from './start-dashboard.ts';

const why = await lacksChromium();
const folder = process.env['SCREENSHOTS'];
const widths = [360, 768, 1_280, 1_920, 3_840];
const shown = {
  now: '/',
  cause: '/cause?id=registry/RegistryUnavailable/mirror.example.com',
  policies: '/policies',
  policy: '/policies/shop/checkout',
  failed: '/policies/shop/payments',
  crashing: '/policies/shop-eu/payments',
  waiting: '/policies/shop/cart',
  rollback: '/policies/shop/checkout/rollback',
  images: '/images',
  image: '/image?repository=harbor.example.com/shop/storefront',
  places: '/places?digest=ffffffffffff',
  search: '/search?q=store',
  bases: '/bases',
  base: '/bases/platform/java',
  activity: '/activity',
  events: '/events',
  approvals: '/approvals',
  setup: '/setup',
  reference: '/api-reference',
  operation: '/api-reference/approvePolicy',
} as const;

/** An address that browsers reach. */
async function listen(t: { after(ending: () => unknown): void }, options: Parameters<typeof openDashboard>[1]): Promise<string> {
  const { app } = openDashboard(t, options);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const address = app.server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://localhost:${address.port}`;
}

describe('the dashboard in a browser', { skip: why ?? false }, () => {
  let browser: OpenBrowser;
  let url: string;
  const endings: (() => unknown)[] = [];
  const ending = { after: (one: () => unknown) => void endings.push(one) };
  before(async () => {
    browser = await startBrowser();
    url = await listen(ending, exampleOptions());
  });
  after(async () => {
    await browser.close();
    for (const end of endings) await end();
  });

  for (const width of widths)
    it(`fits every page on ${width} px`, async () => {
      const context = await browser.open({
        viewport: { width, height: Math.round(width < 600 ? width * 2 : width * 0.6) },
        timezoneId: 'Europe/Berlin',
        locale: 'en-GB',
      });
      await context.clock.setFixedTime(eventTime);
      const page = await context.newPage();
      for (const [name, path] of Object.entries(shown)) {
        await page.goto(`${url}${path}`);
        await page.locator('#live.on, body:not([data-live])').first().waitFor();
        await fitsItsWidth(page);
        if (folder === undefined) continue;
        mkdirSync(folder, { recursive: true });
        await page.screenshot({ path: join(folder, `${name}-${width}.png`) });
      }
      await context.close();
    });

  for (const colorScheme of ['light', 'dark'] as const)
    for (const locale of ['en', 'zh-CN'])
      it(`has accessible ${colorScheme} pages in ${locale}`, async () => {
        const context = await browser.open({ colorScheme, locale });
        const page = await context.newPage();
        for (const path of [...Object.values(shown), '/nowhere', '/policies/shop/nobody']) {
          await page.setViewportSize({ width: 1_280, height: 740 });
          const answer = await page.goto(`${url}${path}`);
          if (answer?.status() === 200) for (const one of await page.locator('details').all()) await one.locator('summary').first().click();
          await isAccessible(page);
          await page.setViewportSize({ width: 360, height: 740 });
          await isAccessible(page);
        }
        await context.close();
      });

  for (const { most, ...viewport } of [
    { width: 390, height: 844, most: 2 },
    { width: 1_280, height: 800, most: 1 },
    { width: 1_920, height: 1_080, most: 1 },
  ])
    for (const locale of ['en', 'zh-CN'])
      it(`shows all of the first page on ${most === 1 ? 'one screen' : `${most} screens`} of ${viewport.width} px in ${locale}`, async () => {
        const context = await browser.open({ viewport, locale });
        const page = await context.newPage();
        await page.goto(url);
        await page.locator('#live.on').waitFor();
        const height = (await page.evaluate('document.documentElement.scrollHeight')) as number;
        assert.ok(height <= viewport.height * most, `${height} px`);
        await context.close();
      });

  it('shows times in the zone of the reader, with UTC as the tooltip', async () => {
    const context = await browser.open({ timezoneId: 'Asia/Tokyo', locale: 'en-GB' });
    const page = await context.newPage();
    await page.goto(`${url}/policies/shop/checkout`);
    const time = page.locator('.timeline .points time').first();
    await time.and(page.locator('[title]')).waitFor();
    const [shownAs, title] = [await time.textContent(), await time.getAttribute('title')];
    assert.match(title ?? '', /^2026-03-01 \d\d:\d\d UTC$/);
    const hourIn = (text: string | null) => Number(/ (\d\d):/.exec(text ?? '')?.[1]);
    assert.equal(hourIn(shownAs), (hourIn(title) + 9) % 24);
    await context.close();
  });

  it('can be used from the keyboard', async () => {
    const context = await browser.open();
    const page = await context.newPage();
    await page.goto(`${url}/policies/shop/checkout`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL('**#content');
    const focused = () => page.evaluate('document.activeElement.textContent.trim()') as Promise<string>;
    for (let steps = 0; steps < 5 && (await focused()) !== 'Roll back'; steps++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/policies/shop/checkout/rollback');
    await context.close();
  });

  for (const width of [390, 1_280])
    it(`moves the focus in visual order on ${width} px, and keeps the header in view`, async () => {
      const context = await browser.open({ viewport: { width, height: 740 } });
      const page = await context.newPage();
      await page.goto(`${url}/policies/shop/checkout`);
      const places = (await page.evaluate(
        `[...document.querySelectorAll('header a, header input')].map((one) => one.getBoundingClientRect()).map(({ left, top, bottom }) => [left, top, bottom])`,
      )) as [number, number, number][];
      for (const [index, [left, top, bottom]] of places.entries()) {
        const before = places[index - 1];
        if (before === undefined) continue;
        assert.ok(
          before[2] <= top || (before[0] < left && before[1] < bottom),
          `${places.join(' ')}: ${index} comes before what is focused before it`,
        );
      }
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      assert.equal(await page.evaluate("document.querySelector('header').getBoundingClientRect().top"), 0);
      await context.close();
    });

  it('opens the search on any page with one key, and the list of keys with another', async () => {
    const context = await browser.open();
    const page = await context.newPage();
    await page.goto(`${url}/setup`);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await isAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('/');
    await page.keyboard.type('what/does?not exist');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing that you may see matches "what/does?not exist"').waitFor();
    // Its text is seen before its script has run, without which a key does nothing.
    await page.waitForLoadState();
    await page.keyboard.press('/');
    await page.keyboard.type(digestOf('f'));
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/places?digest=${encodeURIComponent(digestOf('f'))}`);
    assert.equal(await page.locator('tbody tr').count(), 2);
    await context.close();
  });

  it('updates a page after changes, and keeps sections opened and text typed by the user', async (t) => {
    const feed = createPolicyFeed();
    let found: ImagePolicy = policyOf({ name: 'web', status: { running: '1.0.0' } });
    const address = await listen(t, { policies: { feed, all: () => [found], find: () => found } });
    const context = await browser.open();
    const page = await context.newPage();
    await page.goto(`${address}/policies/shop/web`);
    await page.locator('#live.on').waitFor();
    await page.locator('#conditions summary').click();
    await page.getByLabel('Explain a push').fill('half of a na');
    found = { ...found, status: { running: '1.1.0' } };
    const change: PolicyChange = { type: 'updated', object: found };
    feed.publish(change);
    await page.locator('.between code', { hasText: '1.1.0' }).first().waitFor();
    assert.equal(await page.locator('#conditions').getAttribute('open'), '');
    assert.equal(await page.getByLabel('Explain a push').inputValue(), 'half of a na');
    await context.close();
  });

  it('finds one of 10,000 policies while the user types, and turns the pages of the list', async (t) => {
    const many = Array.from({ length: 10_000 }, (_, index) =>
      policyOf({ namespace: `team-${index % 100}`, name: `app-${index}`, uid: `uid-${index}` }),
    );
    const address = await listen(t, { policies: { all: () => many, find: () => many[0] } });
    const context = await browser.open();
    const page = await context.newPage();
    await page.goto(`${address}/policies`);
    await page.getByText('10000 policies').waitFor();
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByRole('link', { name: 'First page' }).waitFor();
    await page.getByLabel('Search').pressSequentially('app-7777');
    await page.getByText('1 policy', { exact: true }).waitFor();
    assert.equal(await page.locator('tbody tr').count(), 1);
    assert.match(page.url(), /search=app-7777/);
    assert.equal(await page.getByLabel('Search').inputValue(), 'app-7777');
    await context.close();
  });

  it('writes nothing to the console', () => {
    const wrong = browser.complaints.filter((text) => !/nowhere|nobody/.test(text));
    assert.deepEqual(wrong, []);
  });
});
