import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDashboard } from './start-dashboard.ts';

test('every page, also an error page, names the cluster if it has a name', async (t) => {
  const { get } = openDashboard(t, { more: { settings: { teamLabel: 'team', cluster: 'prod-eu' } } });
  for (const url of ['/', '/policies/shop/ready', '/nowhere']) {
    const { text } = await get(url);
    assert.match(text, /<title>[^<]* · prod-eu · image-watcher<\/title>/, url);
    assert.match(text, /image-watcher <small>prod-eu<\/small>/, url);
  }
  assert.doesNotMatch((await openDashboard(t).get('/')).text, /image-watcher <small>/);
});
