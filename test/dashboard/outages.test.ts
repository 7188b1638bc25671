/** The banner about what does not answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDashboard } from './start-dashboard.ts';

test('a banner says what does not answer, since when, and what still works', async (t) => {
  const since = Date.parse('2026-03-01T11:58:00Z');
  const bannerOf = async (what: readonly ('cluster' | 'redis')[], language = 'en') => {
    const { get } = openDashboard(t, { stale: () => what.map((one) => ({ what: one, since })) });
    const { text } = await get('/policies', { 'accept-language': language });
    return /<div class="outages".*?<\/div>/s.exec(text)?.[0];
  };
  assert.equal(await bannerOf([]), undefined);
  assert.match(
    (await bannerOf(['redis'])) ?? '',
    /Redis does not answer, since <time class="ago" datetime="2026-03-01T11:58:00Z">.*Policies and causes are current/,
  );
  assert.match((await bannerOf(['cluster'])) ?? '', /shown as of <time.*Pushes are still accepted and kept\. Nothing is changed/);
  // Neither claims that the other one works.
  assert.doesNotMatch((await bannerOf(['cluster', 'redis'])) ?? '', /are current|still accepted/);
  assert.match((await bannerOf(['cluster', 'redis'], 'zh-CN')) ?? '', /API server 没有响应.*Redis 没有响应/);
});
