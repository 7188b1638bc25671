/** The banner about what does not answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventRecord } from '../../src/service/queue/event-record.ts';
import { exampleOptions } from './example.ts';
import { openDashboard } from './start-dashboard.ts';

test('a banner names the system that does not answer, since when, and what still works', async (t) => {
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

test('pages about pushes, activity and receivers show the last known state with its age, and recover by themselves', async (t) => {
  const { installation, records, ...options } = exampleOptions();
  let isAway = false;
  const unlessAway =
    <A extends unknown[], T>(read: (...args: A) => Promise<T>) =>
    (...args: A) =>
      isAway ? Promise.reject(new Error('Redis is away')) : read(...args);
  const since = Date.parse('2026-03-01T11:58:00Z');
  const readNone = async (): Promise<EventRecord | undefined> => Promise.resolve(undefined);
  const { get } = openDashboard(t, {
    ...options,
    installation: {
      running: unlessAway(installation.running),
      receivers: unlessAway(installation.receivers),
      deliveries: unlessAway(installation.deliveries),
      announcements: unlessAway(installation.announcements),
    },
    reader: {
      get: unlessAway(readNone),
      async *list() {
        await unlessAway(readNone)();
        yield records;
      },
    },
    stale: () => (isAway ? [{ what: 'redis', since }] : []),
  });
  const ages = (text: string) => text.split('From memory').length - 1;
  isAway = true;
  const unread = await get('/events');
  assert.equal(unread.status, 200);
  assert.match(
    unread.text,
    /role="alert">This cannot be shown until Redis answers again.*since <time class="ago" datetime="2026-03-01T11:58:00Z"/,
  );
  assert.match(unread.text, /data-live=/);
  isAway = false;
  const whole = { events: await get('/events'), activity: await get('/activity'), setup: await get('/setup') };
  for (const { text } of Object.values(whole)) assert.equal(ages(text), 0);
  isAway = true;
  const [events, activity, setup] = [await get('/events'), await get('/activity'), await get('/setup')];
  assert.deepEqual([events.status, activity.status, setup.status], [200, 200, 200]);
  const shown = (text: string) => text.split('<li').length;
  assert.equal(ages(events.text), 1);
  assert.equal(shown(events.text), shown(whole.events.text));
  assert.equal(ages(activity.text), 1);
  assert.equal(shown(activity.text), shown(whole.activity.text));
  // The receivers, the registries, and what runs.
  assert.equal(ages(setup.text), 3);
  assert.match(setup.text, /<code>401<\/code>/);
  assert.match((await get('/events', { 'accept-language': 'zh-CN' })).text, /来自内存/);
  const failed = await get('/events?outcome=failed');
  assert.ok(shown(failed.text) < shown(events.text));
  isAway = false;
  for (const url of ['/events', '/activity', '/setup']) assert.equal(ages((await get(url)).text), 0, url);
});
