/** `image-watcher rebase` with a real registry. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ecSigner, pemOf, signSimple } from '../../service/verify/cosign.ts';
import { pushSimple } from '../../service/verify/push-signature.ts';
import { UsageError } from '../../../src/service/command-line/command.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { type Pushed, pushJava, type PushJava } from '../rebase/java-images.ts';
import { runCommand } from '../../cli/run-command.ts';

let registry: Registry;
const folder = tempFolder('rebase');
const config = join(folder, 'config.yaml');
const keyFile = join(folder, 'rebase.pem');

before(async () => {
  registry = await startRegistry();
  writeFileSync(config, JSON.stringify({ registries: [{ host: registry.host, insecure: true }] }));
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(
    keyFile,
    privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'correct horse battery staple' }),
  );
  writeFileSync(join(folder, 'password'), 'correct horse battery staple\n');
});
after(() => registry.stop());

const push: PushJava = (change, all) => pushJava({ registry: registry.host, proxy: registry.host }, change, all);
const run = (...args: string[]) => runCommand('rebase', [...args, '--config', config, '--docker-config', '/dev/null']);
const onto = ({ order }: Pushed) => ['--onto', `${registry.host}/${order.newBase.source.path}:21.0.2`];
const tagsOf = async ({ order }: Pushed) => {
  const answer = await fetch(`http://${registry.host}/v2/${order.application.source.path}/tags/list`);
  return ((await answer.json()) as { tags: string[] }).tags.filter((tag) => !tag.startsWith('sha256-')).toSorted();
};

/** The command ends with 1, and one sentence. */
async function assertSentence(running: ReturnType<typeof run>, pattern: RegExp): Promise<void> {
  const { code, out, err } = await running;
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, pattern);
  assert.match(err, /^[^\n]+\n$/);
}

test('the command rebase finds the base, writes the image under a new tag, and changes nothing when repeated', async () => {
  const pushed = await push();
  const image = `${pushed.app}:1.2.3`;
  const { code, out, err } = await run(image, ...onto(pushed));
  assert.deepEqual([code, err], [0, '']);
  const [about, name, transferred] = out.split('\n');
  const base = `${registry.host}/${pushed.order.newBase.source.path}`;
  assert.equal(about, `${image}: ${base}:21.0.1 → ${base}:21.0.2 (linux/amd64, linux/arm64)`);
  const [, tag = ''] = /:([^:]*) \(sha256:[0-9a-f]{64}\)$/.exec(name ?? '') ?? [];
  assert.match(tag, /^1\.2\.3-base\.\d{8}$/);
  assert.match(transferred ?? '', /^3 layers mounted, \d+ bytes of manifests and configurations uploaded, no layer transferred$/);
  assert.deepEqual(await tagsOf(pushed), ['1.2.3', tag]);

  const again = await run(image, ...onto(pushed), '--tag', tag);
  assert.match(again.out, /had this image already/);
  const rebased = await run(`${pushed.app}:${tag}`, ...onto(pushed));
  assert.deepEqual([rebased.code, rebased.out], [0, `${pushed.app}:${tag} is built on ${base}:21.0.2 already\n`]);
});

test('the command rebase --dry-run writes nothing, and names the digest of the image that would be written', async () => {
  const pushed = await push();
  const image = `${pushed.app}:1.2.3`;
  const from = ['--from', `${registry.host}/${pushed.order.newBase.source.path}:21.0.1`, '--tag', '$tag-base.20261123'];
  const planned = await run(image, ...onto(pushed), ...from, '--dry-run', '-o', 'json');
  assert.deepEqual([planned.code, await tagsOf(pushed)], [0, ['1.2.3']]);
  const { kind, rebased, rebasedDigest } = JSON.parse(planned.out) as Record<string, string>;
  assert.deepEqual([kind, rebased], ['planned', `${pushed.app}:1.2.3-base.20261123`]);
  const written = JSON.parse((await run(image, ...onto(pushed), ...from, '-o', 'json')).out) as Record<string, string>;
  assert.deepEqual([written['kind'], written['rebasedDigest']], ['rebased', rebasedDigest]);
});

test('the command rebase refuses with the rule, its reason and the remedy, and writes nothing', async () => {
  const pushed = await push({ newBase: { config: { User: 'root', Env: ['PATH=/opt/java/bin:/usr/bin', 'JAVA_VERSION=21.0.2'] } } });
  const { code, out, err } = await run(`${pushed.app}:1.2.3`, ...onto(pushed));
  assert.deepEqual([code, out], [1, '']);
  assert.match(
    err,
    /^the image is not rebased \(UserChanged\): the user of the base changes from "app" to "root" .*--allow UserChanged\n$/,
  );
  assert.deepEqual(await tagsOf(pushed), ['1.2.3']);
  const json = await run(`${pushed.app}:1.2.3`, ...onto(pushed), '-o', 'json');
  assert.deepEqual([json.code, (JSON.parse(json.out) as { rules: string[] }).rules], [1, ['UserChanged']]);
  const allowed = await run(`${pushed.app}:1.2.3`, ...onto(pushed), '--allow', 'UserChanged', '--tag', 'patched');
  assert.deepEqual([allowed.code, await tagsOf(pushed)], [0, ['1.2.3', 'patched']]);
});

test('the command rebase signs with an encrypted key if the bases are signed, and the application is or that is allowed', async () => {
  const pushed = await push();
  const signing = ['--sign-key', keyFile, '--sign-password-file', join(folder, 'password')];
  const image = `${pushed.app}:1.2.3`;
  assert.match((await run(image, ...onto(pushed), ...signing)).err, /\(SignatureAdded\): the application is not signed/);
  const allowed = ['--allow', 'SignatureAdded', '-o', 'json'];
  assert.match((await run(image, ...onto(pushed), ...signing, ...allowed)).out, /"reason": "BaseUnverified"/);
  const base = { host: registry.host, repository: pushed.order.newBase.source.path };
  const baseKey = join(folder, 'base.pub');
  const signer = ecSigner();
  writeFileSync(baseKey, pemOf(signer));
  const verified = ['--base-key', baseKey, ...allowed];
  await assertSentence(
    run(image, ...onto(pushed), ...signing, ...verified),
    /21\.0\.2 \(sha256:\S+\) is not used: a signature by \S+base\.pub/,
  );
  await pushSimple(base, pushed.digests.newBase, [signSimple(pushed.digests.newBase, ecSigner())]);
  await assertSentence(run(image, ...onto(pushed), ...signing, ...verified), /is not used: a signature was made with another key/);
  assert.deepEqual(await tagsOf(pushed), ['1.2.3']);
  await pushSimple(base, pushed.digests.newBase, [signSimple(pushed.digests.newBase, signer)]);
  // The old base, whose layers are removed, has to be signed as well.
  assert.match((await run(image, ...onto(pushed), ...signing, ...verified)).out, /"reason": "BaseUnverified"/);
  await pushSimple(base, pushed.digests.oldBase, [signSimple(pushed.digests.oldBase, signer)]);
  const { code, out } = await run(image, ...onto(pushed), ...signing, ...verified);
  assert.equal(code, 0);
  const { rebasedDigest = '' } = JSON.parse(out) as Record<string, string>;
  const { path } = pushed.order.application.source;
  const answer = await fetch(`http://${registry.host}/v2/${path}/manifests/${rebasedDigest.replace(':', '-')}.sig`, {
    headers: { accept: 'application/vnd.oci.image.manifest.v1+json' },
  });
  const { layers } = (await answer.json()) as { layers: { annotations: object }[] };
  assert.deepEqual(Object.keys(layers[0]?.annotations ?? {}), ['dev.cosignproject.cosign/signature']);
});

test('the command rebase explains wrong usage', async () => {
  const cases: [args: string[], message: RegExp][] = [
    [[], /name the image to rebase/],
    [['localhost/shop/web:1'], /name the new base with --onto/],
    [['localhost/shop/web', '--onto', 'localhost/base'], /IMAGE: name a tag or a digest of localhost\/shop\/web/],
    [['localhost/shop/web:1', '--onto', 'localhost/base:1', '--allow', 'Everything'], /--allow is UserChanged, .*, not "Everything"/],
    [['localhost/shop/web:1', '--onto', 'localhost/base:1', '--sign-password-file', 'x'], /goes with --sign-key/],
    [
      ['localhost/shop/web:1', '--onto', 'localhost/base:1', '--sign-key', join(folder, 'none')],
      /^--sign-key \S+none does not exist: create it/,
    ],
  ];
  for (const [args, message] of cases) {
    await assert.rejects(run(...args), (error) => error instanceof UsageError && message.test(error.message), `${message}`);
  }
});

test('the command rebase reports that the image is not built on the base, and says what to do', async () => {
  const [one, other] = [await push(), await push({ oldBase: { layers: [{ 'etc/os-release': 'Alpine' }] } })];
  await assertSentence(
    run(`${other.app}:1.2.3`, ...onto(other)),
    /is built on no version of .*; name the version that it is built on with --from/,
  );
  const from = ['--from', `${registry.host}/${other.order.newBase.source.path}:21.0.1`];
  const { code, err } = await run(`${one.app}:1.2.3`, ...onto(one), ...from);
  assert.equal(code, 1);
  assert.match(err, /^[^\n]*\(LayersDiffer\).*other files[^\n]*\n$/);
});

test('the command rebase reports a missing image, base or registry in one sentence', async () => {
  const pushed = await push();
  await assertSentence(run(`${pushed.app}:9.9.9`, ...onto(pushed)), /^the registry does not have \S+:9\.9\.9: check the name\n/);
  await assertSentence(
    run(`${pushed.app}:1.2.3`, '--onto', `${registry.host}/none:1`),
    /^the registry does not know \S+\/none: check the name\n/,
  );
  await assertSentence(run('127.0.0.1:1/web:1', '--onto', '127.0.0.1:1/base:2'), /127\.0\.0\.1:1/);
});
