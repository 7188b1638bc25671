/** What needs the cluster, facts → findings: a row for each line and level. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { issueCertificate, makeAuthority } from '../../../src/conversion/certificates/make-certificate.ts';
import { customResourceDefinition } from '../../../src/conversion/definition.ts';
import { certificates, type CertificateFacts } from '../../../src/service/doctor/checks/certificates.ts';
import { definition } from '../../../src/service/doctor/checks/definition.ts';
import { permissions } from '../../../src/service/doctor/checks/permissions.ts';
import { service } from '../../../src/service/doctor/checks/service.ts';
import { assertLine, evaluate, testAllSeen } from './evaluate.ts';
import { addedDefinition } from '../../harness/resource-group.ts';

const hourMs = 3_600_000;
const now = Date.parse('2026-05-01T12:00:00Z');

test('the check of permissions names what is missing and its consequence', () => {
  const of = (...grants: Parameters<typeof permissions.evaluate>[0]['grants']) =>
    evaluate(permissions, { account: 'this process', grants, namespacesNotAsked: 2 });
  assertLine(of({ file: 'work', missing: [] }), 'permissions/work', 'ok', /has all permissions/);
  assertLine(
    of({ file: 'work', namespace: 'shop', missing: ['patch deployments.apps'] }),
    'permissions/work',
    'failed',
    /may not patch deployments.apps in shop/,
  );
  assertLine(
    of({ file: 'work-secrets', missing: ['get secrets'] }),
    'permissions/work-secrets',
    'warning',
    /may not get secrets: registries can be read anonymously/,
  );
  assertLine(
    of({ file: 'work-bases', missing: ['list baseimagepolicies.operator.technomad.dev'] }),
    'permissions/work-bases',
    'warning',
    /BaseImagePolicies do nothing/,
  );
  assertLine(
    of({ file: 'work-notifications', missing: ['list notificationtargets.operator.technomad.dev'] }),
    'permissions/work-notifications',
    'warning',
    /NotificationTargets of namespaces are not notified/,
  );
  assertLine(
    of({ file: 'work-checks', missing: ['create jobs.batch'] }),
    'permissions/work-checks',
    'warning',
    /may not create jobs.batch/,
  );
  assertLine(
    of({ file: 'work-analysis', missing: ['create analysisruns.argoproj.io'] }),
    'permissions/work-analysis',
    'warning',
    /checks that make AnalysisRuns time out/,
  );
  const reports = of({ file: 'work-vulnerabilities', missing: ['list vulnerabilityreports.aquasecurity.github.io'] });
  assertLine(reports, 'permissions/work-vulnerabilities', 'warning', /reports of Trivy Operator do not count/);
  assert.match(reports[0]?.action ?? '', /permissions\.vulnerabilityReports: true/);
  const rebase = of({ file: 'work-rebase', missing: ['create imagepolicies.operator.technomad.dev'] });
  assertLine(rebase, 'permissions/work-rebase', 'skipped', /rebased are not rolled out/);
  assert.match(rebase[0]?.action ?? '', /permissions\.rebase: true/);
  assertLine(of({ file: 'convert-crd', missing: { why: 'forbidden' } }), 'permissions/convert-crd', 'skipped', /not known: forbidden/);
  assertLine(of(), 'permissions/not-asked', 'skipped', /^2 more/);
  of(
    ...(['work-status', 'work-secret-watches', 'work-namespaces', 'work-definitions', 'work-reviews', 'convert-secret'] as const).map(
      (file) => ({
        file,
        missing: [],
      }),
    ),
  );
});

describe('the check of the definition', () => {
  const expected = customResourceDefinition().spec.versions;
  const installed = { spec: { versions: expected, conversion: { strategy: 'Webhook' } }, status: { storedVersions: ['v1'] } };
  const [bases, records] = [factsOf('BaseImagePolicy'), factsOf('BaseImageRecord')];
  const of = (more: Partial<Extract<Parameters<typeof definition.evaluate>[0], { expected: unknown }>> = {}) =>
    evaluate(definition, { installed, expected, added: [bases, records], reads: [{ version: 'v1', why: undefined }], ...more });
  test('reports a current definition as ok', () => assert.deepEqual([...new Set(of().map(({ level }) => level))], ['ok']));
  test('reports every difference from the expected definition', () => {
    const [v1, ...others] = expected;
    assert.ok(v1);
    const olderVersion = { ...v1, schema: { openAPIV3Schema: { type: 'object' } } };
    assertLine(
      of({ installed: { ...installed, spec: { ...installed.spec, versions: [olderVersion, ...others] } } }),
      'definition/current',
      'failed',
      /schema of v1/,
    );
    assertLine(
      of({ installed: { ...installed, spec: { ...installed.spec, versions: others } } }),
      'definition/current',
      'failed',
      /older image-watcher, with v1alpha1 alone/,
    );
    const older = of({ installed: { ...installed, spec: { ...installed.spec, versions: others } } });
    assert.deepEqual(
      older.map(({ line, action }) => [line, action?.includes('stop the older service')]),
      [
        ['definition/installed', undefined],
        ['definition/current', true],
      ],
    );
    assertLine(
      of({ installed: { ...installed, spec: { versions: expected } } }),
      'definition/conversion',
      'failed',
      /without a conversion webhook/,
    );
    assertLine(
      of({ installed: { ...installed, status: { storedVersions: ['v1alpha1', 'v1'] } } }),
      'definition/stored-versions',
      'warning',
      /v1alpha1/,
    );
    assertLine(of({ reads: [{ version: 'v1alpha1', why: 'x509' }] }), 'definition/readable', 'failed', /as v1alpha1: x509/);
    assertLine(of({ installed: undefined }), 'definition/installed', 'failed', /not installed/);
    assertLine(evaluate(definition, { why: 'forbidden' }), 'definition/installed', 'skipped', /forbidden/);
  });
  test('compares the kinds that wings add one by one', () => {
    const line = 'definition/added-kinds';
    const without = (one: typeof bases) => ({ ...one, definition: { ...one.definition, installed: undefined } });
    const withoutBases = of({ added: [without(bases), without(records)] });
    assertLine(withoutBases, line, 'warning', /BaseImagePolicy is not installed: there are no policies for base images$/);
    assertLine(withoutBases, line, 'warning', /BaseImageRecord is not installed/);
    // A cluster with policies for base images needs their records.
    assertLine(
      of({ added: [bases, without(records)] }),
      line,
      'failed',
      /BaseImageRecord is not installed: .*no BaseImagePolicy is reconciled$/,
    );
    const { expected: own } = records.definition;
    const versions = own.map((version) => ({ ...version, schema: { openAPIV3Schema: { type: 'object' } } }));
    const older = { ...records, definition: { expected: own, installed: { spec: { versions } } } };
    assertLine(of({ added: [bases, older] }), line, 'failed', /BaseImageRecord is another than that of this program: schema of v1$/);
    assertLine(
      of({ added: [{ ...bases, definition: { why: 'forbidden' } }] }),
      line,
      'skipped',
      /BaseImagePolicy could not be read: forbidden/,
    );
    assert.ok(!of({ added: [] }).some((finding) => finding.line === line));
  });
});

/** The facts about a kind whose definition is installed as it should be. */
function factsOf(kind: string) {
  const { object, withoutIt, recordsOf } = addedDefinition(kind);
  const { versions } = object.spec;
  return {
    kind,
    withoutIt,
    ...(recordsOf !== undefined && { recordsOf }),
    definition: { installed: { spec: { versions } }, expected: versions },
  };
}

describe('the check of certificates', () => {
  const dayMs = 24 * hourMs;
  let ca: Awaited<ReturnType<typeof makeAuthority>>;
  let other: typeof ca;
  let leaf: typeof ca;
  const facts = (more: Partial<CertificateFacts> = {}): CertificateFacts => ({
    now,
    warnWithinMs: 14 * dayMs,
    conversion: { bundle: ca.certificate, served: { certificate: leaf.certificate } },
    ...more,
  });
  before(async () => {
    [ca, other] = await Promise.all([makeAuthority(new Date(now)), makeAuthority(new Date(now))]);
    leaf = await issueCertificate(ca, ['a.example'], new Date(now));
  });
  test('requires that the bundle trusts the certificate that is served', () => {
    assertLine(evaluate(certificates, facts()), 'certificates/conversion-trust', 'ok', /trusts/);
    const bundle = other.certificate + ca.certificate;
    assertLine(
      evaluate(certificates, facts({ conversion: { bundle, served: { certificate: leaf.certificate } } })),
      'certificates/conversion-trust',
      'ok',
      /trusts/,
    );
    const foreign = facts({ conversion: { bundle: other.certificate, served: { certificate: leaf.certificate } } });
    assertLine(evaluate(certificates, foreign), 'certificates/conversion-trust', 'failed', /does not trust/);
  });
  test('skips what is not known', () => {
    const of = (conversion: NonNullable<CertificateFacts['conversion']>) => evaluate(certificates, facts({ conversion }));
    const served = { certificate: leaf.certificate };
    assertLine(of({ bundle: '', served: { why: 'ETIMEDOUT' } }), 'certificates/conversion-trust', 'skipped', /ETIMEDOUT/);
    assertLine(of({ bundle: '', served }), 'certificates/conversion-trust', 'skipped', /authorities of its system/);
    assertLine(of({ bundle: { why: 'forbidden' }, served }), 'certificates/conversion-trust', 'skipped', /forbidden/);
  });
  test('reports certificates that end soon or are invalid', () => {
    const line = 'certificates/conversion-end';
    assertLine(evaluate(certificates, facts()), line, 'ok', /valid for/);
    assertLine(evaluate(certificates, facts({ warnWithinMs: 100_000 * dayMs })), line, 'warning', /ends in/);
    assertLine(evaluate(certificates, facts({ now: now + 100_000 * dayMs })), line, 'failed', /ended/);
    assertLine(evaluate(certificates, facts({ now: now - 100 * dayMs })), line, 'failed', /not valid before/);
    const others = [
      { line: 'ingress', name: 'Secret a/tls', pem: 'nothing' },
      { line: 'gateway', name: 'Gateway a/public', pem: { why: 'it does not exist' } },
      { line: 'registry-ca', name: '/ca.pem', pem: { why: 'ENOENT' } },
    ] as const;
    const findings = evaluate(certificates, facts({ others }));
    assertLine(findings, 'certificates/ingress', 'failed', /no certificate/);
    assertLine(findings, 'certificates/gateway', 'skipped', /does not exist/);
    assertLine(findings, 'certificates/registry-ca', 'skipped', /ENOENT/);
  });
});

test('the check of the service reports a service that cannot be asked or has another version', () => {
  const of = (api: Parameters<typeof service.evaluate>[0]['api'], cluster?: string) =>
    evaluate(service, { version: '1.0.0', api, cluster });
  assertLine(of({ version: '1.0.0' }), 'service/version', 'ok', /1.0.0/);
  assertLine(of({ version: '0.9.0' }), 'service/version', 'warning', /0.9.0/);
  assertLine(of({ why: 'ECONNREFUSED', isRefused: false }), 'service/api', 'failed', /ECONNREFUSED/);
  const action = (cluster?: string) =>
    of({ why: 'ECONNREFUSED', isRefused: false }, cluster).find(({ line }) => line === 'service/api')?.action;
  assert.match(action() ?? '', /kubectl get pods/);
  // Without a cluster, kubectl would fail as well.
  assert.match(action('no kubeconfig') ?? '', /^correct the access to the cluster first/);
  assertLine(of({ why: '403', isRefused: true }, 'no kubeconfig'), 'service/api', 'skipped', /403/);
  assertLine(of({ version: '1.0.0' }, 'no kubeconfig'), 'service/cluster', 'skipped', /no kubeconfig/);
  assertLine(of({ version: '1.0.0' }), 'service/cluster', 'ok', /answers/);
});

testAllSeen(permissions, definition, certificates, service);
