/** Where addresses lead: those that users are sent to, and those of the API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf } from '../../src/dashboard/api-client.ts';
import { isOwnForm, localPath } from '../../src/dashboard/same-site.ts';

test('the header Sec-Fetch-Site of a form takes precedence over its Origin', () => {
  assert.equal(isOwnForm({ 'sec-fetch-site': 'cross-site', origin: 'http://localhost', host: 'localhost' }), false);
  assert.equal(isOwnForm({ 'sec-fetch-site': 'same-origin' }), true);
});

test('no parameter of a page redirects to another site', () => {
  for (const text of [
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'https://evil.example',
    '/\t/evil.example',
    '/ /evil.example',
    'javascript:alert(1)',
    '',
    undefined,
    '/..//evil.example',
  ])
    assert.equal(localPath(text), '/', String(text));
  assert.equal(localPath('/policies?state=Ready'), '/policies?state=Ready');
});

test('no parameter leads to another route of the API', () => {
  const path = '/policies/{namespace}/{name}/approve';
  for (const [namespace, name] of [
    ['..', 'web'],
    ['shop', '..'],
    ['.', '.'],
  ] as const)
    assert.throws(() => addressOf(path, { namespace, name }), { status: 404 });
  assert.equal(addressOf(path, { namespace: 'a/../b', name: '$&?x#y' }), '/policies/a%2F..%2Fb/%24%26%3Fx%23y/approve');
  assert.equal(addressOf('/events', { policy: 'shop/web', before: undefined, limit: 50 }), '/events?policy=shop%2Fweb&limit=50');
});
