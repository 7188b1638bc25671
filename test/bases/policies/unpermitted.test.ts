import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unpermittedOf } from '../../../src/bases/policies/unpermitted.ts';
import { policyWith } from './acting.ts';

const registry = 'harbor.example.com';
const imageOf = (path: string) => ({ image: { repository: { registry, path }, tag: '1.2.3', digest: undefined, workloads: [] } });
const images = ['shop/web', 'shop/web', 'shop/api', 'tools/cron', 'other/web'].map(imageOf);
const mayPush = (namespace: string, { path }: { readonly path: string }) => namespace === 'platform' && path.startsWith('shop/');

test('the repositories without permission to push are those of images rebased without a pushSecret, each once', () => {
  const rows: readonly [onNewBase: object[], expected: string[]][] = [
    [[{ rebase: {} }], ['tools/cron', 'other/web']],
    [[{ rebase: { images: [`${registry}/tools/*`] } }, { report: {} }], ['tools/cron']],
    [[{ rebase: { images: [`${registry}/other/*`], pushSecret: { name: 'rebaser' } } }, { rebase: {} }], ['tools/cron']],
    [[{ restart: { images: [`${registry}/tools/*`] } }, { rebase: {} }], ['other/web']],
    [[{ report: {} }], []],
  ];
  for (const [onNewBase, expected] of rows)
    assert.deepEqual(
      unpermittedOf(policyWith({ onNewBase }), images, mayPush).map(({ path }) => path),
      expected,
    );
});
