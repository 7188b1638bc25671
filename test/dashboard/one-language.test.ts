/** A page in Chinese has no English sentences: the pages of a small installation, with what its policies, pushes, bases and findings say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policies } from './example-policies.ts';
import { exampleOptions } from './example.ts';
import { openDashboard } from './start-dashboard.ts';

/** Pages, and those that they link to. */
const starts = ['/', '/policies', '/images', '/places', '/bases', '/activity', '/events', '/approvals', '/setup', '/search?q=shop'];

/** What others have written: people, a service that was notified, and the log, by whose line one searches; and commands. */
const ofOthers = /tested on staging|invalid routing key|“[^”]*”|image-watcher [a-z]+ \S+/g;

/** What stands on a page as text, without code, logs, names of steps, and what is said to be English. */
function textOf(page: string): string {
  return page
    .replaceAll(/<head>.*?<\/head>|<(code|pre|script|textarea)\b.*?<\/\1>|<(\w+)[^>]* lang="en"[^>]*>.*?<\/\2>/gs, ' … ')
    .replaceAll(/<[^>]* title="([^"]*)"[^>]*>/g, ' | $1 | ')
    .replaceAll(/<[^>]*>/g, ' | ')
    .replaceAll(ofOthers, ' … ')
    .replaceAll(/(?:[a-z-]+, )+[a-z-]+(?= *\|)/g, ' … ');
}

test('no page in Chinese has an English sentence', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const addresses = new Set([...starts, ...policies.map(({ namespace, name }) => `/policies/${namespace}/${name}`)]);
  const found: string[] = [];
  for (const address of addresses) {
    const { status, text } = await get(address, { 'accept-language': 'zh-CN' });
    if (starts.includes(address)) assert.equal(status, 200, address);
    for (const [, next = ''] of text.matchAll(/href="(\/(?:policies|images|bases|events|causes|activity)\/[^"?]*)"/g))
      if (addresses.size < 120 && !/\.(?:csv|json)$/.test(next)) addresses.add(next.replaceAll('&amp;', '&'));
    found.push(
      ...(textOf(text).match(/[^|]*\b[a-z]{2,}(?:,? [a-z]{2,}){2,}[^|]*/g) ?? []).map((sentence) => `${address}: ${sentence.trim()}`),
    );
  }
  assert.ok(addresses.size > 30);
  assert.deepEqual(found, []);
});
