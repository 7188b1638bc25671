/** What pages show of vulnerabilities: fixes that wait, as causes and on the page of their repository, and the assessment on the page of a policy. */
import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import type { Assessment } from '../../src/core/model/assessment.ts';
import { assessmentOf, containerOf } from '../core/model/assessments.ts';
import { digestOf, policyOf } from '../core/model/samples.ts';
import { lacksChromium } from '../harness/binaries.ts';
import { eventTime } from '../service/api/fake-events.ts';
import { fitsItsWidth, isAccessible, startBrowser, type OpenBrowser } from './browser.ts';
import { at } from './example-policies.ts';
import { fixOptions } from './fix-example.ts';
import { openDashboard } from './start-dashboard.ts';

const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const inChinese = { 'accept-language': 'zh-CN' };

test('the first page lists waiting fixes, critical ones after broken policies, each with its reason and next step', async (t) => {
  const { get } = openDashboard(t, fixOptions());
  const { text } = await get('/');
  const [failed = '', window = '', approval = '', ...others] = text.split('<li class="cause').slice(1);
  assert.equal(others.length, 2);
  assert.match(failed, /Broken.*payments:5\.1\.0 fails its rollout/s);
  assert.match(
    textOf(window),
    /Warning harbor\.example\.com\/shop\/stock:0\.9\.4 fixes CVE-2026-21345 \(Critical\) and 1 more harbor\.example\.com\/shop\/stock:0\.9\.3 runs now: 0\.9\.4 is applied to Deployment shop\/stock when the next window opens/,
  );
  assert.match(window, /Let fixes skip the wait.*kubectl edit imagepolicy -n shop stock/s);
  assert.match(
    textOf(approval),
    /Blocked harbor\.example\.com\/shop\/cart:1\.9\.0 fixes.*shop\/cart:1\.8\.2 runs now: 1\.9\.0 waits for approval/,
  );
  assert.match(approval, /<a class="button" href="\/policies\/shop\/cart\/approve">Approve it/);
  const chinese = await get('/', inChinese);
  assert.match(textOf(chinese.text), /stock:0\.9\.4 修复了 CVE-2026-21345 \(Critical\) 等另外 1 个.*stock:0\.9\.3 正在运行：/);
});

test('a fix that several policies do not apply is one cause, which links to its approval, and shows texts as text', async (t) => {
  const image = { tag: '1.4.2', digest: digestOf('b') };
  const conditions = [
    { type: 'ApprovalRequired', status: 'True', reason: 'ApprovalRequired', message: '1.4.2 waits', lastTransitionTime: at(5) },
  ] as const;
  const vulnerabilities = [assessmentOf({ fixes: [{ id: '<b>CVE</b>\u202E', severity: 'Critical' }] })];
  const status = { conditions, pendingApproval: image, vulnerabilities, targets: [containerOf()] };
  const waiting = ['shop', 'eu'].map((namespace) => policyOf({ namespace, name: 'web', uid: namespace, status }));
  const { get } = openDashboard(t, { policies: { all: () => waiting } });
  const { text } = await get('/');
  const [, cause = '', ...others] = text.split('<li class="cause');
  assert.deepEqual(others, []);
  assert.match(cause, /web:1\.4\.2 fixes &lt;b>CVE&lt;\/b>\uFFFD \(Critical\).*2 policies in 2 namespaces.*href="\/approvals">Approve it/s);
  const page = await get(`/cause?id=${encodeURIComponent(`image/FixAvailable/registry.example.com/shop/web@${image.digest}`)}`);
  assert.match(page.text, /href="\/approvals">Approve it.*Policies that it reaches/s);
  assert.doesNotMatch(page.text, /<form method="post" action="\/policies\/approve"/);
});

test('the page of a policy shows vulnerabilities that an image fixes and adds, and which reports count', async (t) => {
  const { get } = openDashboard(t, fixOptions());
  const { text } = await get('/policies/shop/stock');
  const [, section = ''] = text.split('<section id="vulnerabilities">');
  assert.match(
    textOf(section.split('</section>')[0] ?? ''),
    /Vulnerabilities of 0\.9\.4.* Most severe Low Replaces Fixes Adds harbor\.example\.com\/shop\/stock:0\.9\.3 CVE-2026-21345 Critical ?, GHSA-4r6h-8v6p-xvw6 High ?, CVE-2025-60012 Medium CVE-2026-20077 Low According to trivy on 2026-03-01 10:50 UTC \(Harbor\) What does not count: grype on 2026-02-01 10:50 UTC \(harbor\.example\.com\) is older than 168h/,
  );
  assert.doesNotMatch((await get('/policies/shop/checkout')).text, /id="vulnerabilities"/);
  const chinese = await get('/policies/shop/stock', inChinese);
  assert.match(textOf(chinese.text), /漏洞： 0\.9\.4.*替换 修复 新增.*不算数的证据/);
});

test('the page of a repository shows waiting images that fix vulnerabilities of the running ones', async (t) => {
  const { get } = openDashboard(t, fixOptions());
  const { text } = await get('/image?repository=harbor.example.com%2Fshop%2Fstock');
  assert.match(textOf(text), /Fixes that wait .*stock:0\.9\.4 fixes CVE-2026-21345 \(Critical\).*kubectl edit imagepolicy -n shop stock/);
  assert.doesNotMatch((await get('/image?repository=harbor.example.com%2Fshop%2Fstorefront')).text, /id="fixes"/);
});

test('pages say if vulnerabilities are unknown, and show texts of reports as text without hidden characters', async (t) => {
  const evil = '<img src=x onerror=alert(1)>\u202E\u0007';
  const assessed = (more: Partial<Assessment>) => {
    const policy = policyOf({ status: { vulnerabilities: [assessmentOf({ fixes: [] }, more)] } });
    return openDashboard(t, { policies: { all: () => [policy], find: () => policy } }).get('/policies/shop/web');
  };
  const unknown = 'nothing reports its vulnerabilities';
  const without = await assessed({ unknown, replaces: [{ image: 'r/web:1', unknown, fixes: [], adds: [] }] });
  assert.match(textOf(without.text), /Vulnerabilities of 1\.4\.2.*Not known nothing reports its vulnerabilities/);
  const vulnerability = { id: evil, severity: 'High' } as const;
  const compared = {
    image: evil,
    fixes: [vulnerability],
    adds: [vulnerability],
    mayAdd: [vulnerability],
    more: { severity: 'High', count: 3, running: 2 },
  } as const;
  const { text } = await assessed({
    tag: evil,
    by: evil,
    problems: [evil],
    unlisted: true,
    replaces: [compared, { image: 'r/web:2', unknown: evil, fixes: [], adds: [] }],
  });
  const [, section = ''] = text.split('<section id="vulnerabilities">');
  const [shown = ''] = section.split('</section>');
  assert.match(textOf(shown), /3 that are High or above, instead of 2.*It would replace more images/);
  for (const hidden of ['<img', '\u202E', '\u0007']) assert.ok(!shown.includes(hidden));
  assert.match(shown, /&lt;img src=x onerror=alert\(1\)>\uFFFD\uFFFD/);
});

const why = await lacksChromium();
const pages = ['/', '/policies/shop/stock', '/policies/shop/cart', '/image?repository=harbor.example.com/shop/stock'];

describe('fixes that wait, in a browser', { skip: why ?? false }, () => {
  let browser: OpenBrowser;
  let url: string;
  const endings: (() => unknown)[] = [];
  const ending = { after: (one: () => unknown) => void endings.push(one) };
  before(async () => {
    browser = await startBrowser();
    const { app } = openDashboard(ending, fixOptions());
    await app.listen({ port: 0, host: '127.0.0.1' });
    const address = app.server.address();
    assert.ok(typeof address === 'object' && address !== null);
    url = `http://localhost:${address.port}`;
  });
  after(async () => {
    await browser.close();
    for (const end of endings) await end();
  });

  for (const width of [360, 768, 1_280, 1_920, 3_840])
    for (const [locale, colorScheme] of [
      ['en', 'light'],
      ['zh-CN', 'dark'],
    ] as const)
      it(`fit on ${width} px and are accessible in ${locale}`, async () => {
        const context = await browser.open({ viewport: { width, height: 800 }, locale, colorScheme });
        await context.clock.setFixedTime(eventTime);
        const page = await context.newPage();
        for (const path of pages) {
          await page.goto(`${url}${path}`);
          await page.locator('#live.on, body:not([data-live])').first().waitFor();
          await fitsItsWidth(page);
          if (width === 360 || width === 1_280) await isAccessible(page);
        }
        await context.close();
      });

  it('write nothing to the console', () => assert.deepEqual(browser.complaints, []));
});
