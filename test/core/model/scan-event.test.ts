import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptScan, startedByScan, wasScanned } from '../../../src/core/model/scan-event.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const [a, b, c] = [digest('a'), digest('b'), digest('c')];
const context = { receiver: 'prod', aliases: new Map<string, string>() };

test('a scan is normalised as a push is, and an invalid tag or digest is left out', () => {
  const claimed = { type: 'SCANNING_COMPLETED', registry: 'Harbor.example.com:443', repository: 'shop/web', tag: '1.0', digest: a };
  const repository = { registry: 'harbor.example.com', path: 'shop/web' };
  assert.deepEqual(acceptScan(claimed, context), { receiver: 'prod', repository, tag: '1.0', digest: a });
  assert.deepEqual(acceptScan({ ...claimed, tag: 'a b', digest: 'sha256:0' }, context), { receiver: 'prod', repository });
  const { registry: _, ...unnamed } = claimed;
  const overridden = acceptScan(unnamed, { ...context, registryOverride: 'other.example.com' });
  assert.deepEqual('receiver' in overridden && overridden.repository.registry, 'other.example.com');
  assert.equal('code' in acceptScan(unnamed, context), true);
  assert.equal('code' in acceptScan({ ...claimed, repository: '../x' }, context), true);
});

const waiting = {
  first: { tag: '1.0', digest: a },
  second: { tag: '1.1', digest: b },
  replicated: { tag: '1.0' },
};
const rows: [name: string, scan: { tag?: string; digest?: string }, started: (keyof typeof waiting)[]][] = [
  ['of a digest, like pushes without a digest', { digest: b }, ['second', 'replicated']],
  ['of a digest and a tag', { digest: a, tag: '1.0' }, ['first', 'replicated']],
  ['of a tag that was moved: the digest decides', { digest: b, tag: '1.0' }, ['second', 'replicated']],
  ['of a tag', { tag: '1.0' }, ['first', 'replicated']],
  ['of a part of an image, which nobody named', { digest: c }, ['first', 'second', 'replicated']],
  ['of something', {}, ['first', 'second', 'replicated']],
];
for (const [name, scan, started] of rows) {
  test(`the pushes ${started.join(', ')} start after a scan ${name}`, () => {
    const all = Object.values(waiting);
    assert.deepEqual(
      startedByScan(all, scan),
      started.map((one) => waiting[one]),
    );
  });
}

test('a push counts as scanned by its digest, whatever its tag, and by the scan of any image if it has no digest', () => {
  const ended = [{ tag: '1.0', digest: a }];
  assert.deepEqual(
    [
      wasScanned({ tag: '1.0', digest: a }, ended),
      wasScanned({ tag: '1.0', digest: b }, ended),
      wasScanned({ tag: '1.1' }, ended),
      wasScanned({ tag: '1.1' }, []),
      wasScanned({ tag: '1.0', digest: b }, [{ tag: '1.0' }]),
    ],
    [true, false, true, false, true],
  );
});
