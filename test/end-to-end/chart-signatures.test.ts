/** Signed and unsigned charts, with a real registry, the definitions of Flux and Argo CD, and signatures as cosign makes them. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { valueAt } from '../../src/service/resources/validation/problem.ts';
import type { Spec } from '../../src/service/resources/v1.ts';
import { lacksHelm } from '../harness/binaries.ts';
import { helmPush } from '../harness/push-chart.ts';
import { pushChart, pushImage } from '../harness/push-image.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { ecSigner, pemOf, releaser, rsaSigner, signBundle, signBundleKeyless, signSimple } from '../service/verify/cosign.ts';
import { pushBundle, pushSimple } from '../service/verify/push-signature.ts';
import { createSigstore } from '../service/verify/sigstore.ts';
import { chartResources, typeOf } from './chart-resources.ts';
import { type ChartKind, startChartWorld } from './chart-world.ts';
import { announce, type World } from './world.ts';

const lacks = await lacksHelm();
const ours = ecSigner();
const sigstore = createSigstore();
const byKey: Partial<Spec> = { verify: { cosign: { keys: [{ secretRef: { name: 'cosign', key: 'cosign.pub' } }] } } };
const byReleaser: Partial<Spec> = { verify: { cosign: { keyless: [releaser] } } };
const revision = 'spec.source.targetRevision';

describe('a policy for charts that requires signatures', { skip: lacks ?? false }, () => {
  let world: World;
  let charts: ReturnType<typeof chartResources>;
  before(async () => {
    world = await startChartWorld(['application', 'ocirepository']);
    charts = chartResources(world);
    const trustRootFile = join(tempFolder('trust-root'), 'trusted_root.json');
    writeFileSync(trustRootFile, sigstore.trustedRoot);
    await announce(world.registry, await world.start({ config: { verification: { trustRootFile } } }));
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'cosign' }, stringData: { 'cosign.pub': pemOf(ours) } };
    await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, secret);
  });
  after(() => world.stop());

  const place = (name: string) => ({ host: world.registry.host, repository: `charts/${name}` });
  const follow = async (kind: ChartKind, name: string, fields: { tag: string; digest?: string }, more: Partial<Spec>) => {
    const targets = [{ ...typeOf(kind), name, fields }];
    await world.createPolicy(
      name,
      `${world.registry.host}/charts/${name}`,
      { strategy: 'SemVer' },
      { artifact: 'Chart', targets, ...more },
    );
    await world.waitForFirstLook(name);
  };
  /** An Application on 1.0.0 of a chart that our key has signed. */
  const startApplication = async (name: string) => {
    const { digest } = await pushChart({ ...place(name), tag: '1.0.0' });
    await pushSimple(place(name), digest, [signSimple(digest, ours)]);
    const source = { repoURL: `${world.registry.host}/charts`, chart: name, targetRevision: '1.0.0' };
    await charts.create('application', name, { project: 'default', destination: { namespace: 'shop' }, source });
    await follow('application', name, { tag: revision }, byKey);
  };
  const digestOfTag = async (name: string, tag: string): Promise<string> => {
    const { host, repository } = place(name);
    const headers = { accept: 'application/vnd.oci.image.manifest.v1+json' };
    const { headers: answered } = await fetch(`http://${host}/v2/${repository}/manifests/${tag}`, { method: 'HEAD', headers });
    return answered.get('docker-content-digest') ?? assert.fail(`${name} has no ${tag}`);
  };

  test('does not install a chart that Helm has pushed until its signature arrives', async () => {
    await startApplication('later');
    await helmPush({ ...place('later'), version: '1.1.0+build.2' });
    const digest = await digestOfTag('later', '1.1.0_build.2');
    const { message } = await world.waitForCondition('later', 'Reconciling', 'NotSigned');
    assert.match(
      message,
      new RegExp(`charts/later:1\\.1\\.0_build\\.2 \\(${digest}\\) is not signed: a signature by key cosign\\.pub of Secret`),
    );
    assert.equal((await charts.read('application', 'later')).metadata.generation, 1);
    await pushSimple(place('later'), digest, [signSimple(digest, ours)]);
    await charts.waitForValue('application', 'later', revision, '1.1.0+build.2');
    await world.waitForCondition('later', 'Ready', 'UpToDate');
  });

  test('is stalled by the signature of another chart or of an image or with another key, until the right signature arrives', async () => {
    await startApplication('wrong');
    const other = await pushChart({ ...place('wrong'), tag: '0.9.0', content: 'another' });
    const image = await pushImage({ ...place('wrong'), tag: '0.8.0' });
    const { digest } = await pushChart({ ...place('wrong'), tag: '1.1.0', content: 'new' });
    // Where cosign looks for the signatures of the new chart, there are good ones of others, and a bad one of it.
    const bad = [signSimple(other.digest, ours), signSimple(image.digest, ours), signSimple(digest, rsaSigner())];
    await pushSimple(place('wrong'), digest, bad);
    const { message } = await world.waitForCondition('wrong', 'Stalled', 'SignatureInvalid');
    for (const one of [other, image]) assert.ok(message.includes(`a signature is for ${one.digest}`), message);
    assert.match(message, /a signature was made with another key/);
    await pushBundle(place('wrong'), digest, signBundle(other.digest, ours));
    await world.annotate(world.policyPath('wrong'), { 'operator.technomad.dev/requested-at': 'with a bundle of another' });
    await waitFor('the check', async () => (await world.readStatus('wrong')).lastHandledRequest === 'with a bundle of another');
    assert.equal((await world.condition('wrong', 'Stalled'))?.reason, 'SignatureInvalid');
    assert.equal((await charts.read('application', 'wrong')).metadata.generation, 1);
    await pushSimple(place('wrong'), digest, [...bad, signSimple(digest, ours)]);
    await world.annotate(world.policyPath('wrong'), { 'operator.technomad.dev/requested-at': 'with its own' });
    await charts.waitForValue('application', 'wrong', revision, '1.1.0');
  });

  test('writes exactly the digest that a keyless signer has signed', async () => {
    const name = 'keyless';
    const first = await pushChart({ ...place(name), tag: '1.0.0' });
    await pushBundle(place(name), first.digest, signBundleKeyless(first.digest, { sigstore }));
    const url = `oci://${world.registry.host}/charts/${name}`;
    await charts.create('ocirepository', name, { interval: '1h', url, ref: { tag: '1.0.0', digest: first.digest } });
    const fields = { tag: 'spec.ref.tag', digest: 'spec.ref.digest' };
    await follow('ocirepository', name, fields, { ...byReleaser, update: { pin: 'Digest' } });
    const stranger = 'https://github.com/mallory/web/.github/workflows/release.yml@refs/tags/v1';
    const foreign = await pushChart({ ...place(name), tag: '1.1.0', content: 'by a stranger' });
    await pushBundle(place(name), foreign.digest, signBundleKeyless(foreign.digest, { sigstore, identity: stranger }));
    const { message } = await world.waitForCondition(name, 'Stalled', 'SignatureInvalid');
    assert.ok(message.includes(`made by ${stranger}`), message);
    const { digest } = await pushChart({ ...place(name), tag: '1.2.0', content: 'by the releaser' });
    await pushBundle(place(name), digest, signBundleKeyless(digest, { sigstore }));
    await charts.waitForValue('ocirepository', name, 'spec.ref.digest', digest);
    assert.deepEqual(valueAt(await charts.read('ocirepository', name), ['spec', 'ref']), { tag: '1.2.0', digest });
  });
});
