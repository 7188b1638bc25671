/** Readers of Chinese see what the reasons say in Chinese; messages are translated as well, and what nobody has translated is marked as English. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chineseReasons } from '../../docs/explanations/zh-CN-reasons.ts';
import { reasons } from '../../src/core/model/reasons.ts';
import { reasonsZh } from '../../src/dashboard/texts/reasons-zh.ts';
import { exampleOptions } from './example.ts';
import { openDashboard } from './start-dashboard.ts';

const chinese = { 'accept-language': 'zh-CN' };

test('the explanation of a reason in Chinese is the same on the pages as in the documentation', () => {
  for (const [reason, text] of Object.entries(reasons))
    assert.equal(`${reasonsZh[reason as keyof typeof reasons]}。`, chineseReasons[`${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`]);
});

test('the page of a policy says in Chinese why it is blocked', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get('/policies/shop/cart', chinese);
  assert.match(text, /<b>✗ 更新等待有人批准它的摘要<\/b>/);
  assert.match(text, /<p class="why">1\.9\.0 等待批准<\/p>/);
});

test('the list of policies has the reason in Chinese, in one line, with the message as the tooltip', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get('/policies', chinese);
  assert.match(text, /title="无法连接 mirror\.example\.com：连接被拒绝；下一次尝试在 12:01:00Z">镜像仓库失败或没有答复/);
  assert.match((await get('/policies')).text, /title="cannot[^"]*">cannot connect to mirror\.example\.com: the connection was re…/);
});
