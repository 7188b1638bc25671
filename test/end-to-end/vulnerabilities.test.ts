/** Images with attestations about their vulnerabilities, with a real registry and a real API server: a fix passes its waits, and nothing else does. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { pushImage } from '../harness/push-image.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { installDefinition } from '../service/kube/targets/real-definition.ts';
import {
  pushAttestation,
  pushAttestationOfCosign2,
  pushEnvelopes,
  scanByTrivy,
  scanType,
  vexOf,
  vexType,
} from '../service/vulnerabilities/push-attestation.ts';
import { ecSigner, pemOf, signBundle, signEnvelope, statementOf } from '../service/verify/cosign.ts';
import { pushBundle } from '../service/verify/push-signature.ts';
import { announce, startWorld, type World } from './world.ts';

const ours = ecSigner();
const stranger = ecSigner();
const attestations = { keys: [{ secretRef: { name: 'cosign', key: 'cosign.pub' } }] };
/** Waits for a week, unless a critical vulnerability is fixed. */
const unlessCritical: Partial<Spec> = {
  minAge: '168h',
  minAgeUnless: { fixes: 'Critical' },
  verify: { vulnerabilities: { attestations } },
};

type Finding = readonly [id: string, severity: string];
const critical: Finding = ['CVE-2026-1', 'CRITICAL'];
const another: Finding = ['CVE-2026-2', 'CRITICAL'];
const high: Finding = ['CVE-2026-3', 'HIGH'];
const hourMs = 3_600_000;
const ago = (hours: number) => new Date(Date.now() - hours * hourMs);

describe('a policy with rules about vulnerabilities', () => {
  let world: World;

  before(async () => {
    world = await startWorld({ extraRules: shippedRules('work-vulnerabilities') });
    await installDefinition(world.cluster, 'vulnerabilityreport');
    await announce(world.registry, await world.start());
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'cosign' }, stringData: { 'cosign.pub': pemOf(ours) } };
    await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, secret);
  });
  after(() => world.stop());

  /** A Deployment that runs 1.0.0, in which our scanner has found something two hours ago, with its policy. Each is a repository of its own. */
  async function startScanned(name: string, spec: Partial<Spec>, found: readonly Finding[] = [critical]) {
    const repository = `shop/${name}`;
    const image = `${world.registry.host}/${repository}`;
    const place = { host: world.registry.host, repository };
    const attest = (digest: string, predicate: object, { predicateType = scanType, signer = ours } = {}) =>
      pushAttestation(world.registry, repository, digest, { signer, predicateType, predicate });
    const push = async (tag: string, content = tag) => (await pushImage({ ...place, tag, content: `${name} ${content}` })).digest;
    const digest = await push('1.0.0');
    await attest(digest, scanByTrivy(found, ago(2)));
    await world.createDeployment(name, `${image}:1.0.0@${digest}`);
    await world.createPolicy(name, image, { strategy: 'SemVer' }, spec);
    await world.waitForFirstLook(name);
    /** The attestations are there when the image is seen first: it was pushed before under a tag that the policy does not select. */
    const pushAttested = async (tag: string, attestIt: (digest: string) => Promise<void>) => {
      const digest = await push('build', tag);
      await attestIt(digest);
      assert.equal(await push(tag), digest);
      return digest;
    };
    const runs = (tag: string, digest: string) => world.waitForImage(name, `${image}:${tag}@${digest}`);
    return { place, repository, attest, push, pushAttested, runs, digest, stillRuns: () => runs('1.0.0', digest) };
  }

  /** The assessment of an image, once something about it is as expected. */
  const waitForAssessment = (name: string, digest: string, pattern: RegExp) =>
    waitFor(`the assessment of ${name} to say ${pattern}`, async () => {
      const { vulnerabilities = [] } = await world.readStatus(name);
      const found = vulnerabilities.find((one) => one.digest === digest);
      return found !== undefined && pattern.test(JSON.stringify(found)) && found;
    });

  test('applies a signed fix immediately, and reports which vulnerability it fixes', async () => {
    const { attest, push, runs, stillRuns } = await startScanned('fixed', unlessCritical);
    const digest = await push('1.0.1');
    const waiting = await world.waitForCondition('fixed', 'Reconciling', 'MinAge');
    assert.match(waiting.message, /nothing reports its vulnerabilities/);
    await stillRuns();
    await attest(digest, scanByTrivy([high], ago(1)));
    const { metadata } = await runs('1.0.1', digest);
    assert.match(metadata.annotations?.['kubernetes.io/change-cause'] ?? '', /CVE-2026-1 \(Critical\)/);
    const events = await world.waitForEvents('Deployment', 'fixed');
    assert.match(events.map(({ message }) => message).join('\n'), /CVE-2026-1 \(Critical\)/);
    await world.waitForCondition('fixed', 'Ready', 'UpToDate');
    assert.equal((await world.readStatus('fixed')).vulnerabilities, undefined);
  });

  test('reads attestations of cosign 2', async () => {
    const { repository, pushAttested, runs } = await startScanned('layers', unlessCritical);
    const attestation = { signer: ours, predicateType: scanType, predicate: scanByTrivy([], ago(1)) };
    const digest = await pushAttested('1.0.1', (digest) => pushAttestationOfCosign2(world.registry, repository, digest, attestation));
    await runs('1.0.1', digest);
  });

  test('applies a fix outside of the windows', async () => {
    // Open for a minute in half a day.
    const at = new Date(Date.now() + 12 * hourMs);
    const time = (date: Date) => date.toISOString().slice(11, 16);
    const windows = [{ from: time(at), to: time(new Date(at.getTime() + 60_000)) }];
    const spec = { update: { windows, windowsUnless: { fixes: 'Critical' } }, verify: { vulnerabilities: { attestations } } } as const;
    const { attest, push, runs, stillRuns } = await startScanned('window', spec);
    const digest = await push('1.0.1');
    await world.waitForCondition('window', 'Reconciling', 'Window');
    await stillRuns();
    await attest(digest, scanByTrivy([], ago(1)));
    await runs('1.0.1', digest);
  });

  type Attest = (digest: string, at: Awaited<ReturnType<typeof startScanned>>) => Promise<void>;
  const clean = () => scanByTrivy([], ago(1));
  const bad: Readonly<Record<string, readonly [attest: Attest, says: RegExp]>> = {
    'signed by a stranger': [(digest, { attest }) => attest(digest, clean(), { signer: stranger }), /another key|not signed/],
    'that nobody signed': [
      async (digest, { place }) => {
        const { json, annotations } = signEnvelope(digest, ours, {
          payload: statementOf(digest, { predicateType: scanType, predicate: clean() }),
        });
        const envelope = { ...(JSON.parse(json.toString()) as object), signatures: [] };
        await pushEnvelopes(place, digest, [
          { json: Buffer.from(JSON.stringify(envelope)), annotations: { ...annotations, predicateType: scanType } },
        ]);
      },
      /not signed/,
    ],
    'whose text was changed after it was signed': [
      async (digest, { place }) => {
        const payload = statementOf(digest, { predicateType: scanType, predicate: scanByTrivy([critical], ago(1)) });
        const bundle = JSON.parse(signBundle(digest, ours, { payload }).json.toString()) as { dsseEnvelope: { payload: string } };
        bundle.dsseEnvelope.payload = statementOf(digest, { predicateType: scanType, predicate: clean() }).toString('base64');
        await pushBundle(place, digest, { kind: 'bundle', json: Buffer.from(JSON.stringify(bundle)) });
      },
      /another key|not signed/,
    ],
    'about another image': [
      async (digest, { place, digest: running }) => {
        const payload = statementOf(running, { predicateType: scanType, predicate: clean() });
        await pushBundle(place, digest, signBundle(running, ours, { payload }));
      },
      /is for sha256|about sha256/,
    ],
    'of a scan that is too old': [(digest, { attest }) => attest(digest, scanByTrivy([], ago(24 * 8))), /older than 168h/],
    'that another one contradicts': [
      async (digest, { attest }) => {
        const at = ago(1);
        await attest(digest, scanByTrivy([], at));
        await attest(digest, scanByTrivy([critical], at));
      },
      /"fixes":\[\]/,
    ],
    'with another critical vulnerability': [
      (digest, { attest }) => attest(digest, scanByTrivy([another], ago(1))),
      /"adds":\[\{"id":"CVE-2026-2"/,
    ],
    'that the same vulnerability is still in': [
      (digest, { attest }) => attest(digest, scanByTrivy([critical], ago(1))),
      /"highest":"Critical"/,
    ],
  };
  for (const [index, [what, [attest, says]]] of Object.entries(bad).entries())
    test(`does not apply an image before its time with an attestation ${what}`, async () => {
      const name = `bad-${index}`;
      const started = await startScanned(name, unlessCritical);
      const digest = await started.pushAttested('1.0.1', (digest) => attest(digest, started));
      await waitForAssessment(name, digest, says);
      await world.waitForCondition(name, 'Reconciling', 'MinAge');
      await started.stillRuns();
      // It was neither that image nor the policy: a signed scan of another image is a fix.
      const next = await started.pushAttested('1.0.2', (digest) => started.attest(digest, scanByTrivy([], ago(0.5))));
      await started.runs('1.0.2', next);
    });

  test('takes VEX statements of the maker of the image into account', async () => {
    const { attest, push, runs } = await startScanned('vex', unlessCritical);
    const digest = await push('1.0.1');
    await attest(digest, scanByTrivy([critical], ago(1)));
    await waitForAssessment('vex', digest, /"highest":"Critical"/);
    await attest(digest, vexOf(critical[0], 'fixed', ago(0.5)), { predicateType: vexType });
    await runs('1.0.1', digest);
  });

  test('compares a signed scan of a new image with what Trivy Operator found in the running one', async () => {
    const verify = { vulnerabilities: { attestations, trivyOperator: true } } as const;
    const { attest, pushAttested, runs, digest: running } = await startScanned('operator', { ...unlessCritical, verify }, []);
    const group = 'aquasecurity.github.io/v1alpha1';
    const [vulnerabilityID, severity] = critical;
    const about = { installedVersion: '1.0', fixedVersion: '1.1', lastModifiedDate: '', title: '', links: [] };
    await world.cluster.request('POST', `/apis/${group}/namespaces/${world.namespace}/vulnerabilityreports`, {
      apiVersion: group,
      kind: 'VulnerabilityReport',
      metadata: { name: 'replicaset-operator-c0' },
      report: {
        artifact: { repository: 'shop/operator', tag: '1.0.0', digest: running },
        os: { family: 'debian', name: '13' },
        scanner: { name: 'Trivy', vendor: 'Aqua Security', version: '0.68.1' },
        summary: { criticalCount: 1, highCount: 0, lowCount: 0, mediumCount: 0, unknownCount: 0 },
        updateTimestamp: ago(1.5).toISOString(),
        vulnerabilities: [{ vulnerabilityID, severity, resource: 'openssl', publishedDate: '2026-01-01T00:00:00Z', ...about }],
      },
    });
    const digest = await pushAttested('1.0.1', (digest) => attest(digest, scanByTrivy([], ago(1))));
    await runs('1.0.1', digest);
  });

  test('does not apply an image with more vulnerabilities than the running one, until a person releases it', async () => {
    const verify = { vulnerabilities: { attestations, notMoreThanRunning: 'High' } } as const;
    const { attest, push, pushAttested, runs, stillRuns } = await startScanned('veto', { verify }, [high]);
    const digest = await push('1.0.1');
    await world.waitForCondition('veto', 'Reconciling', 'VulnerabilitiesUnknown');
    await attest(digest, scanByTrivy([high, critical], ago(1)));
    await waitForAssessment('veto', digest, /CVE-2026-1/);
    await stillRuns();
    await world.annotate(world.policyPath('veto'), { 'operator.technomad.dev/release': new Date().toISOString() });
    await runs('1.0.1', digest);
    const better = await pushAttested('1.0.2', (digest) => attest(digest, scanByTrivy([high], ago(0.5))));
    await runs('1.0.2', better);
  });
});
