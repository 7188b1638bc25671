/** Questions about several policies name what runs, what will run, and on how many workloads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOf } from '../core/model/samples.ts';
import { exampleOptions } from './example.ts';
import { openDashboard } from './start-dashboard.ts';

const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

test('the page of a cause shows for each policy the image that runs and the image after the rollback', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get(`/cause?id=${encodeURIComponent('image/RolloutFailed/harbor.example.com/shop/payments:5.1.0')}`);
  assert.match(textOf(text), /shop-eu\/ payments 5\.1\.0 → 5\.0\.4/);
});

test('the confirmation of several approvals shows the running and the new image, and the number of workloads', async (t) => {
  const { policies, ...options } = exampleOptions();
  const targetCounts = { total: 3, upToDate: 0, problems: 0 };
  const all = () => policies.all().map((one) => (one.name === 'cart' ? { ...one, status: { ...one.status, targetCounts } } : one));
  const { get, submit } = openDashboard(t, { ...options, policies: { ...policies, all } });
  assert.match((await get('/approvals')).text, /value="shop\/cart 1\.9\.0 /);
  const { text } = await submit('/approvals/confirm', [
    ['choice', `shop/cart 1.9.0 ${digestOf('b')}`],
    ['choice', `shop/nobody 1.9.0 ${digestOf('b')}`],
  ]);
  assert.match(textOf(text), /shop\/ cart 1\.8\.2 → 1\.9\.0 Workloads: 3 sha256:/);
  assert.match(textOf(text), /shop\/ nobody – → 1\.9\.0 sha256:/);
});
