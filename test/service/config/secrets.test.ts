import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openSecrets, type SecretNews, watchSecrets } from '../../../src/service/config/secrets.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { waitFor } from '../../harness/wait-for.ts';

const long = (name: string) => `${name}-with-sixteen-or-more`;

/** A folder as the kubelet mounts a Secret: files are links through `..data`, which is swapped in one step. */
function mount(values: Record<string, string>) {
  const folder = tempFolder('secret');
  let version = 0;
  const write = (next: Record<string, string>) => {
    const data = `..version-${++version}`;
    mkdirSync(join(folder, data));
    for (const [name, value] of Object.entries(next)) writeFileSync(join(folder, data, name), value);
    symlinkSync(data, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  write(values);
  for (const name of Object.keys(values)) symlinkSync(join('..data', name), join(folder, name));
  return { write, file: (name: string) => join(folder, name), folder };
}

function open(files: readonly string[], { isUrlOnly = false, env = {} } = {}) {
  const secrets = [{ env: 'FIRST' }, ...files.map((file) => ({ file }))];
  return openSecrets([{ name: 'a', secrets, isUrlOnly }], { FIRST: long('first'), ...env });
}

test('a swapped secret file is used after the next check, and other secrets stay', async () => {
  const { file, write } = mount({ old: long('old'), next: long('next') });
  const store = open([file('old'), file('next')]);
  assert.deepEqual(store.of('a'), [long('first'), long('old'), long('next')]);
  assert.deepEqual(await store.reread(), []);
  write({ old: long('next'), next: `${long('newest')}\n` });
  assert.deepEqual(await store.reread(), [
    { receiver: 'a', position: 1, kind: 'changed' },
    { receiver: 'a', position: 2, kind: 'changed' },
  ]);
  assert.deepEqual(store.of('a'), [long('first'), long('next'), long('newest')]);
});

test('a secret file that cannot be read or is empty keeps the old value, and is reported once', async () => {
  const { file, write } = mount({ key: long('old') });
  const store = open([file('key')]);
  write({ key: '\n' });
  const [news] = await store.reread();
  assert.equal(news?.kind, 'kept');
  assert.match(news?.why ?? '', /is empty/);
  assert.deepEqual(await store.reread(), []);
  write({});
  assert.match((await store.reread())[0]?.why ?? '', /key does not exist: create it/);
  assert.deepEqual(await store.reread(), []);
  assert.deepEqual(store.of('a'), [long('first'), long('old')]);
  write({ key: long('old') });
  assert.deepEqual(await store.reread(), []);
  rmSync(file('key'));
  assert.equal((await store.reread()).length, 1);
});

test('no report about a secret file contains its value', async () => {
  const { file, write } = mount({ key: long('old') });
  const store = open([file('key')], { isUrlOnly: true });
  write({ key: 'hunter2' });
  const news = await store.reread();
  assert.equal(news[0]?.kind, 'kept');
  write({ key: long('hunter2') });
  assert.ok(!JSON.stringify([news, await store.reread()]).includes('hunter2'));
});

test('short secrets are reported, and refused where the URL is the only authentication', () => {
  const { file } = mount({ key: 'fifteen-letters' });
  assert.deepEqual(open([file('key')]).guessable(), ['a']);
  assert.deepEqual(open([]).guessable(), []);
  const { problems } = open([file('key')], { isUrlOnly: true });
  assert.deepEqual(
    problems.map(({ keys }) => keys),
    [['receivers', 0, 'secrets', 1]],
  );
  assert.ok(!JSON.stringify(problems).includes('fifteen-letters'));
});

test('secret files are watched repeatedly until the watch is stopped', async (t: TestContext) => {
  const { file, write } = mount({ key: long('old') });
  const store = open([file('key')]);
  const seen: SecretNews[] = [];
  const watch = watchSecrets(store.reread, (news) => seen.push(news), 5);
  t.after(() => watch.stop());
  for (const value of ['one', 'two']) {
    write({ key: long(value) });
    await waitFor(`the secret to be ${value}`, () => store.of('a').includes(long(value)));
  }
  await waitFor('the news', () => seen.length === 2);
});

test('a secret keeps everything but its trailing newline', () => {
  for (const [text, secret] of [
    ['a b \n', 'a b '],
    ['a\r\n', 'a'],
    ['a\n\n', 'a\n'],
    ['a', 'a'],
  ] as const) {
    const { file } = mount({ key: text });
    assert.deepEqual(open([file('key')]).of('a'), [long('first'), secret]);
  }
});
