/** The first page and the page of a cause: what is wrong, and what can be done about it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { causeSentence } from '../../src/dashboard/parts/causes.ts';
import { en } from '../../src/dashboard/texts/en.ts';
import { zh } from '../../src/dashboard/texts/zh.ts';
import { policyOf } from '../core/model/samples.ts';
import { eventTime } from '../service/api/fake-events.ts';
import { exampleOptions } from './example.ts';
import { openDashboard } from './start-dashboard.ts';

const pages = [
  '/cause?id=policy%2FHeld%2Fshop%2Fheld',
  '/cause?id=repository%2FRepositoryNotFound%2Fregistry.example.com%2Fshop%2Fweb',
  '/cause?id=gone',
];

for (const language of ['en', 'zh-CN,zh;q=0.9'])
  test(`the page of a cause is shown in ${language}, also when the cause is gone`, async (t) => {
    const { get } = openDashboard(t);
    for (const url of pages) {
      const { status, text } = await get(url, { 'accept-language': language });
      assert.equal(status, 200, `${url}: ${text}`);
      assert.doesNotMatch(text, /<[^>]+\s(?:style|on\w+)=|<script>|<style|javascript:|undefined|\[object|NaN/, url);
    }
  });

test('the first page shows each cause once, with the one thing to do', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get('/');
  assert.match(text, /3 causes need somebody\. 5 of 13 policies, in 3 namespaces, do not go on\./);
  const causes = text.split('<li class="cause').slice(1);
  assert.equal(causes.length, 3);
  const [failed = '', down = '', refused = ''] = causes;
  assert.match(failed, /Broken.*payments:5\.1\.0 fails its rollout.*rolled back on 1 workload, still running on 2 workloads.*Roll back/s);
  assert.match(down, /mirror\.example\.com does not answer.*3 policies in 2 namespaces.*Test again/s);
  assert.match(refused, /The receiver ci gets no pushes that it accepts/);
  const chinese = await get('/', { 'accept-language': 'zh-CN' });
  assert.match(chinese.text, /3 个原因需要处理/);
  assert.match(chinese.text, /mirror\.example\.com 没有响应/);
  const idle = await openDashboard(t, { policies: { all: () => [policyOf({ name: 'web' })] } }).get('/');
  assert.match(idle.text, /Everything goes on: 1 policy\./);
});

test('a cause that should pass by itself is shown unfolded while there is no other, and never reported as fine', async (t) => {
  const lastTransitionTime = new Date(eventTime).toISOString();
  const conditions = [
    { type: 'Reconciling', status: 'True', reason: 'RegistryUnavailable', message: 'it refuses', lastTransitionTime },
  ] as const;
  const down = policyOf({ name: 'down', uid: 'down', status: { conditions } });
  const { text } = await openDashboard(t, { policies: { all: () => [policyOf({ name: 'web' }), down] } }).get('/');
  assert.match(text, /Nothing needs somebody now\. 1 of 2 policies waits for what should pass by itself\./);
  assert.match(text, /does not answer/);
  assert.doesNotMatch(text, /<details id="passing"/);
  assert.doesNotMatch(text, /verdict good/);
});

test('an image that somebody rejected, or had rolled back, is not said to have failed', async (t) => {
  const lastTransitionTime = new Date(eventTime).toISOString();
  const message = '1.3.0 was rejected by dana. Push something newer, or release it';
  const conditions = [{ type: 'Held', status: 'True', reason: 'RejectedDigest', message, lastTransitionTime }] as const;
  const held = policyOf({ name: 'held', status: { conditions, latest: { tag: '1.3.0', selectedAt: lastTransitionTime } } });
  const { text } = await openDashboard(t, { policies: { all: () => [held] } }).get('/');
  assert.match(text, /:1\.3\.0 is rejected, and is not tried again/);
  assert.doesNotMatch(text, /failed, and/);
});

test('the first page shows causes also without Redis', async (t) => {
  const { installation, ...options } = exampleOptions();
  const away = () => Promise.reject(new Error('Redis is away'));
  const reader = { get: away, list: () => ({ [Symbol.asyncIterator]: () => ({ next: away }) }) };
  const { get } = openDashboard(t, { ...options, installation: { ...installation, receivers: away, deliveries: away }, reader });
  const { status, text } = await get('/');
  assert.equal(status, 200);
  assert.match(text, /mirror\.example\.com does not answer/);
  assert.match(text, /role="alert"/);
});

test('the page of a cause acts on the chosen policies, and rolls back only those that still run the failed image', async (t) => {
  const { get, submit, patched } = openDashboard(t, exampleOptions());
  const { text } = await get('/cause?id=registry%2FRegistryUnavailable%2Fmirror.example.com');
  const names = [...text.matchAll(/name="policy" value="([^"]+)"/g)].map(([, name]) => name);
  assert.deepEqual(names, ['ops/mailer', 'shop/fonts', 'shop/icons']);
  const answer = await submit('/policies/check', [
    ['policy', 'ops/mailer'],
    ['policy', 'shop/icons'],
    ['policy', 'no name'],
    ['policy', 'shop/nobody'],
  ]);
  assert.deepEqual(
    patched.map(({ policy }) => policy),
    ['ops/mailer', 'shop/icons'],
  );
  assert.match(answer.text, /shop\/<\/span>nobody.*role="alert"/s);
  const failed = (await get('/cause?id=image%2FRolloutFailed%2Fharbor.example.com%2Fshop%2Fpayments%3A5.1.0')).text;
  const boxes = [...failed.matchAll(/<input[^>]*name="policy"[^>]*>/g)].map(([box]) => [
    /value="([^"]+)"/.exec(box)?.[1],
    box.includes('disabled'),
  ]);
  assert.deepEqual(boxes, [
    ['shop-eu/payments', false],
    ['shop/payments', true],
  ]);
});

/** The lines of the doctor that are no cause of the installation: the command's own, those that say what was not asked, and those whose subjects say it themselves. */
const others = /^(?:service|policies|notifications)\/|not-asked$/;

test('every line of the doctor that can be a cause has a sentence in each language', () => {
  const page = readFileSync(new URL('../../docs/doctor.md', import.meta.url), 'utf8');
  const lines = [...page.matchAll(/^### `([^`]+)`$/gm)].map(([, line = '']) => line).filter((line) => !others.test(line));
  assert.ok(lines.length > 25, String(lines.length));
  for (const reason of lines)
    for (const texts of [en, zh]) {
      const cause = {
        id: reason,
        kind: 'installation',
        urgency: 'Warning',
        subject: 'x',
        reason,
        message: '',
        step: 'followDoctor',
      } as const;
      const sentence = causeSentence({ ...cause, policies: 0, namespaces: 0, named: [] }, texts);
      assert.notEqual(sentence, texts.causes.finding(reason));
    }
});
