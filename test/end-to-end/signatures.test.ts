/** Signed and unsigned images, with a real registry (without the referrers API), a real API server, and signatures as cosign makes them. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { digestOf, pushImage } from '../harness/push-image.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import {
  ecSigner,
  pemOf,
  releaser,
  rsaSigner,
  signBundle,
  signBundleKeyless,
  signSimple,
  signSimpleKeyless,
  type Signer,
} from '../service/verify/cosign.ts';
import { pushBundle, pushSimple } from '../service/verify/push-signature.ts';
import { createSigstore } from '../service/verify/sigstore.ts';
import { announce, startWorld, type World } from './world.ts';

const ours = ecSigner();
const sigstore = createSigstore();
const byKey: Partial<Spec> = { verify: { cosign: { keys: [{ secretRef: { name: 'cosign', key: 'cosign.pub' } }] } } };
const byReleaser: Partial<Spec> = { verify: { cosign: { keyless: [releaser] } } };

describe('a policy that requires signatures', () => {
  let world: World;

  before(async () => {
    world = await startWorld();
    const trustRootFile = join(tempFolder('trust-root'), 'trusted_root.json');
    writeFileSync(trustRootFile, sigstore.trustedRoot);
    const service = await world.start({ config: { verification: { trustRootFile } } });
    await announce(world.registry, service);
    await putKey('cosign', ours);
  });
  after(() => world.stop());

  async function putKey(name: string, signer: Signer): Promise<void> {
    const secret = { metadata: { name }, stringData: { 'cosign.pub': pemOf(signer) } };
    await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, { apiVersion: 'v1', kind: 'Secret', ...secret });
  }

  /** A Deployment that runs 1.0.0 as it was signed, with its policy. Each is a repository of its own. */
  async function startSigned(name: string, spec: Partial<Spec> = byKey) {
    const repository = `shop/${name}`;
    const image = `${world.registry.host}/${repository}`;
    const imageLocation = { host: world.registry.host, repository };
    const push = (tag: string) => pushImage({ ...imageLocation, tag, content: `${name} ${tag}` });
    const { digest } = await push('1.0.0');
    if (spec === byKey) await pushSimple(imageLocation, digest, [signSimple(digest, ours)]);
    else await pushBundle(imageLocation, digest, signBundleKeyless(digest, { sigstore }));
    await world.createDeployment(name, `${image}:1.0.0`);
    await world.createPolicy(name, image, { strategy: 'SemVer' }, spec);
    await world.waitForImage(name, `${image}:1.0.0@${digest}`);
    const runs = (tag: string, digest: string) => world.waitForImage(name, `${image}:${tag}@${digest}`);
    return { imageLocation, image, push, runs, stillRuns: () => runs('1.0.0', digest) };
  }

  test('does not deploy an image until cosign 2 has signed it', async () => {
    const { imageLocation, push, runs, stillRuns } = await startSigned('simple');
    const { digest } = await push('1.1.0');
    const waiting = await world.waitForCondition('simple', 'Reconciling', 'NotSigned');
    assert.match(waiting.message, new RegExp(`1\\.1\\.0 \\(${digest}\\) is not signed: a signature by key cosign\\.pub of Secret`));
    await stillRuns();
    await pushSimple(imageLocation, digest, [signSimple(digest, ours)]);
    await runs('1.1.0', digest);
    await world.waitForCondition('simple', 'Ready', 'UpToDate');
  });

  test('does not deploy an image until it has a bundle of cosign 3, which is found by the fallback tag', async () => {
    const { imageLocation, push, runs } = await startSigned('bundle');
    const { digest } = await push('1.1.0');
    await world.waitForCondition('bundle', 'Reconciling', 'NotSigned');
    await pushBundle(imageLocation, digest, signBundle(digest, ours));
    await runs('1.1.0', digest);
  });

  test('accepts keyless signatures of both versions with the trust root of the file', async () => {
    const { imageLocation, push, runs } = await startSigned('keyless', byReleaser);
    const first = await push('1.1.0');
    await pushSimple(imageLocation, first.digest, [signSimpleKeyless(first.digest, { sigstore })]);
    await runs('1.1.0', first.digest);
    const second = await push('1.2.0');
    await pushBundle(imageLocation, second.digest, signBundleKeyless(second.digest, { sigstore }));
    await runs('1.2.0', second.digest);
  });

  test('is stalled immediately by a signature with another key, until the right signature is added', async () => {
    const { imageLocation, push, runs, stillRuns } = await startSigned('wrong-key');
    const wrong = digestOf(Buffer.from('something else'));
    const { digest } = await push('1.1.0');
    await pushSimple(imageLocation, digest, [signSimple(digest, rsaSigner()), signSimple(wrong, ours)]);
    const { message } = await world.waitForCondition('wrong-key', 'Stalled', 'SignatureInvalid');
    assert.match(
      message,
      new RegExp(`a signature was made with another key; a signature is for ${wrong}; a signature by key cosign\\.pub`),
    );
    await stillRuns();
    await pushSimple(imageLocation, digest, [signSimple(digest, rsaSigner()), signSimple(digest, ours)]);
    // Any look will do; a changed policy gets one at once.
    await world.patchPolicy('wrong-key', { poll: { interval: '59m' } });
    await runs('1.1.0', digest);
  });

  test('is stalled by a certificate that the same authority issued to somebody else', async () => {
    const { imageLocation, push, stillRuns } = await startSigned('wrong-identity', byReleaser);
    const { digest } = await push('1.1.0');
    const identity = 'https://github.com/mallory/web/.github/workflows/release.yml@refs/tags/v1';
    await pushBundle(imageLocation, digest, signBundleKeyless(digest, { sigstore, identity }));
    const { message } = await world.waitForCondition('wrong-identity', 'Stalled', 'SignatureInvalid');
    assert.ok(message.includes(`made by ${identity} (by ${releaser.issuer}); a signature by ${releaser.identity}`), message);
    await stillRuns();
  });

  test('is stalled while its key is missing, and continues when the key is added', async () => {
    const imageLocation = { host: world.registry.host, repository: 'shop/no-key' };
    const image = `${imageLocation.host}/${imageLocation.repository}`;
    const { digest } = await pushImage({ ...imageLocation, tag: '1.1.0' });
    await pushSimple(imageLocation, digest, [signSimple(digest, ours)]);
    await world.createDeployment('no-key', `${image}:1.0.0`);
    const keys = [{ secretRef: { name: 'later', key: 'cosign.pub' } }];
    await world.createPolicy('no-key', image, { strategy: 'SemVer' }, { verify: { cosign: { keys } } });
    const { message } = await world.waitForCondition('no-key', 'Stalled', 'VerificationKeyInvalid');
    assert.match(message, /Secret .*\/later does not exist/);
    assert.equal((await world.readDeployment('no-key')).spec.template.spec.containers[0]?.image, `${image}:1.0.0`);
    await putKey('later', ours);
    await world.waitForImage('no-key', `${image}:1.1.0@${digest}`);
  });
});
