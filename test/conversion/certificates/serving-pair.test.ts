import assert from 'node:assert/strict';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { makeProvisional } from '../../../src/conversion/certificates/make-certificate.ts';
import { type ServingPair, watchCertificateFiles } from '../../../src/conversion/certificates/serving-pair.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { waitFor } from '../../harness/wait-for.ts';

/** A volume as the kubelet writes it: `tls.crt → ..data/tls.crt`, `..data → ..1`, and a change swaps `..data` only. */
function mountVolume() {
  const root = tempFolder('volume');
  let version = 0;
  for (const file of ['tls.crt', 'tls.key', 'ca.crt']) symlinkSync(`..data/${file}`, join(root, file));
  return {
    files: { certFile: join(root, 'tls.crt'), keyFile: join(root, 'tls.key'), caFile: join(root, 'ca.crt') },
    swap(content: Record<string, string>) {
      const folder = `..${++version}`;
      mkdirSync(join(root, folder));
      for (const [file, text] of Object.entries(content)) writeFileSync(join(root, folder, file), text);
      symlinkSync(folder, join(root, '..data_tmp'));
      renameSync(join(root, '..data_tmp'), join(root, '..data'));
    },
  };
}

const contentOf = ({ certificate, key }: ServingPair, ca = 'an authority') => ({ 'tls.crt': certificate, 'tls.key': key, 'ca.crt': ca });
const makePair = () => makeProvisional(['localhost'], new Date());

function watch(t: TestContext, files: Parameters<typeof watchCertificateFiles>[0]['files']) {
  const seen: { certificate: string; caBundle: string | undefined }[] = [];
  const problems: string[] = [];
  const watcher = watchCertificateFiles({
    files,
    everyMs: 10,
    onPair: ({ certificate }, caBundle) => seen.push({ certificate, caBundle }),
    onProblem: (error) => problems.push(String(error)),
  });
  t.after(() => watcher.stop());
  return { watcher, seen, problems };
}

it('the conversion webhook loads a new certificate when its volume is swapped, and never a partial one', async (t) => {
  const volume = mountVolume();
  const [first, second] = [await makePair(), await makePair()];
  volume.swap(contentOf(first));
  const { watcher, seen, problems } = watch(t, volume.files);
  await watcher.tried;
  assert.deepEqual(seen, [{ certificate: first.certificate, caBundle: 'an authority' }]);

  for (const [broken, told] of [
    [contentOf({ certificate: second.certificate, key: first.key }), /does not belong/],
    [contentOf({ certificate: second.certificate.slice(0, 300), key: second.key }), /./],
    [contentOf({ certificate: '', key: '' }), /./],
    [{ 'tls.crt': second.certificate }, /ENOENT/],
  ] as const) {
    const before = problems.length;
    volume.swap(broken);
    await waitFor('the problem to be told', () => problems.length > before);
    assert.match(problems.at(-1) ?? '', told);
  }
  assert.equal(seen.length, 1, 'the old one is kept');

  volume.swap(contentOf(second, 'another authority'));
  await waitFor('the second certificate', () => seen.length > 1);
  assert.deepEqual(seen[1], { certificate: second.certificate, caBundle: 'another authority' });
  volume.swap(contentOf(second, 'a third authority'));
  await waitFor('the third authority', () => seen.length > 2);
  assert.equal(problems.length, 4, 'each problem is told once');
});

it('the conversion webhook reports a missing certificate once, and loads it when it appears', async (t) => {
  const volume = mountVolume();
  const { watcher, seen, problems } = watch(t, volume.files);
  await watcher.tried;
  assert.deepEqual([seen.length, problems.length], [0, 1]);
  const pair = await makePair();
  volume.swap(contentOf(pair));
  await waitFor('the certificate', () => seen.length === 1);
});
