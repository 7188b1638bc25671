import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { offerProposals } from '../../../src/cli/init/ask.ts';
import { proposePolicies } from '../../../src/cli/init/propose-policies.ts';
import { readDocuments } from '../../../src/cli/manifests/read-documents.ts';
import { parseImageReference } from '../../../src/core/model/image-reference.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const folder = tempFolder('ask');
const proposals = proposePolicies(
  ['a', 'b', 'c'].map((name) => ({
    workload: { kind: 'Deployment', namespace: 'shop', name },
    container: 'app',
    list: 'containers' as const,
    reference: parseImageReference(`ghcr.io/shop/${name}:1.0.0`),
  })),
  () => ({ tags: ['1.0.0'] }),
  { mode: 'Approval', taken: new Set() },
);

/** The names of the policies in the file, if there is one, after these answers; nobody answers any more after them. */
async function answer(name: string, ...answers: string[]) {
  const file = join(folder, name);
  let out = '';
  let err = '';
  const code = await offerProposals(proposals, 'Approval', {
    ask: () => Promise.resolve(answers.shift()?.replace('FILE', file)),
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const names = readDocuments(text).map((document) =>
    'value' in document ? (document.value as { metadata: { name: string } }).metadata.name : assert.fail(text),
  );
  return { code, out, err, names };
}

test('init writes all policies after yes, and says how to apply them', async () => {
  const { code, out, names } = await answer('all.yaml', 'YES', 'FILE');
  assert.deepEqual([code, names], [0, ['a', 'b', 'c']]);
  assert.match(out, /Wrote 3 policies\. Apply them: kubectl apply -f \S+all\.yaml\nThen what waits: image-watcher get\n$/);
});

test('init writes the policies that the user chooses one by one, or all that remain', async () => {
  assert.deepEqual((await answer('some.yaml', 'c', 'y', 'n', 'what?', 'y', 'FILE')).names, ['a', 'c']);
  assert.deepEqual((await answer('rest.yaml', 'c', 'n', 'a', 'FILE')).names, ['b', 'c']);
});

test('init writes nothing after no, after quit and at the end of the input', async () => {
  for (const answers of [['n'], ['c', 'y', 'q'], ['c', 'n', 'n', 'n'], [], ['c', 'y']]) {
    const { code, out, names } = await answer('nothing.yaml', ...answers);
    assert.deepEqual([code, names], [0, []]);
    assert.match(out, /Nothing was written\.\n$/);
  }
  const { code, names } = await answer('nothing.yaml', 'y');
  assert.deepEqual([code, names], [1, []]);
});

test('init never overwrites a file, and asks for another name', async () => {
  const taken = join(folder, 'taken.yaml');
  writeFileSync(taken, 'mine');
  const { err, names } = await answer('other.yaml', 'y', taken, join(folder, 'absent', 'x.yaml'), 'FILE');
  assert.deepEqual([readFileSync(taken, 'utf8'), names], ['mine', ['a', 'b', 'c']]);
  assert.match(err, /taken\.yaml: there is such a file already; name another one\n.*ENOENT/);
});
