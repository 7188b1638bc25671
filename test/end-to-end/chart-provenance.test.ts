/** Charts whose provenance Helm itself has made and pushed, with a real registry. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { lacksCrane, lacksHelm } from '../harness/binaries.ts';
import { craneTag, helmPush } from '../harness/push-chart.ts';
import { certificateOf, keyringOf, pgpSigner } from '../service/verify/openpgp/openpgp.ts';
import { chartResources, typeOf } from './chart-resources.ts';
import { startChartWorld } from './chart-world.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, type World } from './world.ts';

const lacks = (await lacksHelm()) ?? (await lacksCrane());
const revision = 'spec.source.targetRevision';
const verify: NonNullable<Spec['verify']> = { provenance: { keys: [{ secretRef: { name: 'helm', key: 'keys.asc' } }] } };

describe('a policy that requires a provenance', { skip: lacks ?? false }, () => {
  let world: World;
  let charts: ReturnType<typeof chartResources>;
  const [ours, other] = [pgpSigner({ type: 'rsa' }), pgpSigner({ type: 'rsa' })];
  const secretPath = () => `/api/v1/namespaces/${world.namespace}/secrets`;
  before(async () => {
    world = await startChartWorld(['application']);
    charts = chartResources(world);
    await announce(world.registry, await world.start());
  });
  after(() => world.stop());

  const place = () => ({ host: world.registry.host, repository: 'charts/web' });
  const push = (version: string, keyring?: Buffer) => helmPush({ ...place(), version, ...(keyring !== undefined && { keyring }) });
  const generation = async () => (await charts.read('application', 'web')).metadata.generation;

  test('is stalled while its keys are missing, and applies charts that the owner of the keys has signed', async () => {
    await push('1.0.0', keyringOf(ours));
    const source = { repoURL: `${world.registry.host}/charts`, chart: 'web', targetRevision: '1.0.0' };
    await charts.create('application', 'web', { project: 'default', destination: { namespace: 'shop' }, source });
    const targets = [{ ...typeOf('application'), name: 'web', fields: { tag: revision } }];
    const more: Partial<Spec> = { artifact: 'Chart', targets, verify };
    await world.createPolicy('web', `${world.registry.host}/charts/web`, { strategy: 'SemVer' }, more);
    await world.waitForFirstLook('web');
    await push('1.1.0+build.2', keyringOf(ours));
    const { message } = await world.waitForCondition('web', 'Stalled', 'VerificationKeyInvalid');
    assert.match(message, /Secret .*\/helm does not exist/);
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'helm' }, stringData: { 'keys.asc': certificateOf(ours) } };
    await world.cluster.request('POST', secretPath(), secret);
    await charts.waitForValue('application', 'web', revision, '1.1.0+build.2');
  });

  test('is stalled immediately by a chart without provenance, with that of a stranger, or with an old one under a newer tag', async () => {
    const before = await generation();
    const refused = async (pattern: RegExp) => {
      // A push before it is tried again meanwhile, because a signature can follow, and is then named.
      await waitFor(`policy web to be stalled with ${pattern}`, async () => {
        const { conditions = [] } = await world.readStatus('web');
        return conditions.some(({ type, reason, message }) => type === 'Stalled' && reason === 'SignatureInvalid' && pattern.test(message));
      });
      await world.patchPolicy('web', { suspend: true });
      await world.waitForCondition('web', 'Ready', 'Suspended');
    };
    const resume = () => world.patchPolicy('web', { suspend: false });
    await push('1.2.0');
    await refused(/charts\/web:1\.2\.0 \(sha256:[0-9a-f]{64}\) is not used: the chart has no provenance/);
    await push('1.3.0', keyringOf(other));
    await resume();
    await refused(new RegExp(`1\\.3\\.0 .* was not signed by an accepted key, or was changed since \\(it names key ${other.id}\\)`));
    await craneTag({ ...place(), tag: '1.0.0', as: '1.4.0' });
    await resume();
    await refused(/1\.4\.0 .* its provenance is for web-1\.0\.0\.tgz, and not for web-1\.4\.0\.tgz/);
    assert.equal(await generation(), before);
    await push('1.5.0', keyringOf(ours));
    await resume();
    await charts.waitForValue('application', 'web', revision, '1.5.0');
  });

  test('does not accept a key that has expired', async () => {
    const gone = certificateOf(ours, { expiresAfter: 86_400 });
    await world.cluster.request('PATCH', `${secretPath()}/helm`, { stringData: { 'keys.asc': gone } }, 'application/merge-patch+json');
    await push('1.6.0', keyringOf(ours));
    const { message } = await world.waitForCondition('web', 'Stalled', 'VerificationKeyInvalid');
    assert.match(message, new RegExp(`key ${ours.id} has expired on 2026-01-02`));
  });
});
