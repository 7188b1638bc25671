/** Evidence from Trivy Operator: its definition on a real API server, and reports as it and others write them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import { createEvidenceReader } from '../../../src/service/vulnerabilities/read-evidence.ts';
import { createTrivyOperatorSource } from '../../../src/service/vulnerabilities/trivy-operator.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { kubeconfigWithRules } from '../../harness/service-account.ts';
import { shippedRules } from '../../harness/shipped-permissions.ts';
import { installDefinition } from '../kube/targets/real-definition.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const at = '2026-08-01T10:00:00Z';
const count = { criticalCount: 0, highCount: 0, lowCount: 0, mediumCount: 0, unknownCount: 0 };
const found = (id: string, more: object = {}) => ({
  vulnerabilityID: id,
  severity: 'HIGH',
  resource: 'openssl',
  installedVersion: '3.0.1',
  fixedVersion: '3.0.2',
  publishedDate: '2026-07-01T08:00:00Z',
  lastModifiedDate: '2026-07-02T08:00:00Z',
  title: 'a "title", with [brackets] and {braces}',
  links: [],
  ...more,
});

describe('Trivy Operator', () => {
  let cluster: ControlPlane;
  let client: KubeClient;
  before(async () => {
    cluster = await borrowControlPlane();
    client = await openKubeClient({ kubeconfig: cluster.kubeconfigPath });
  });
  after(async () => {
    await client.close();
    await cluster.stop();
  });

  const write = (namespace: string, name: string, report: object = {}, metadata: object = {}) =>
    cluster.request('POST', `/apis/aquasecurity.github.io/v1alpha1/namespaces/${namespace}/vulnerabilityreports`, {
      apiVersion: 'aquasecurity.github.io/v1alpha1',
      kind: 'VulnerabilityReport',
      metadata: { name, ...metadata },
      report: {
        artifact: { repository: 'shop/web', tag: '1.2.3', digest: digest('a') },
        os: { family: 'debian', name: '12' },
        scanner: { name: 'Trivy', vendor: 'Aqua Security', version: '0.67.0' },
        summary: count,
        updateTimestamp: at,
        vulnerabilities: [],
        ...report,
      },
    });
  /** A reader with an empty memory, whose clock the test sets. */
  const open = (by: Pick<KubeClient, 'request'> = client) => {
    const clock = { ms: 0 };
    const read = createEvidenceReader([createTrivyOperatorSource({ client: by, elapsed: () => clock.ms })]);
    const ask = (targetNamespaces: readonly string[], asked = digest('a')) =>
      read(
        {
          source: { registry: 'registry.example.com', path: 'shop/web' },
          digest: asked,
          rules: { harbor: false, trivyOperator: true, maxAgeMs: 1 },
          namespace: 'shop',
          targetNamespaces,
        },
        new AbortController().signal,
      );
    return { ask, clock };
  };
  const namespace = () => cluster.namespace();

  it('says what to do without its definition, and without the permission', async () => {
    const [shop] = [await namespace()];
    const missing = await open().ask([shop]);
    assert.deepEqual(missing.problems, [
      'the API server has no VulnerabilityReports: install Trivy Operator, or remove verify.vulnerabilities.trivyOperator from the policy',
    ]);
    await installDefinition(cluster, 'vulnerabilityreport');
    await write(shop, 'web');
    const asUser = async (name: string, rules: ReturnType<typeof shippedRules>) => {
      const user = await openKubeClient({ kubeconfig: await kubeconfigWithRules(cluster, shop, name, rules) });
      try {
        return await open(user).ask([shop]);
      } finally {
        await user.close();
      }
    };
    const [forbidden = ''] = (await asUser('without', shippedRules('work'))).problems;
    assert.match(
      forbidden,
      /^image-watcher may not list VulnerabilityReports in the namespace \S+: set permissions\.vulnerabilityReports: true/,
    );
    assert.equal((await asUser('with', shippedRules('work-vulnerabilities'))).reports.length, 1);
  });

  it('reads a report of the digest, each vulnerability once, and when each was published', async () => {
    const shop = await namespace();
    const vulnerabilities = [
      found('CVE-2026-1', { severity: 'LOW' }),
      found('CVE-2026-1', { severity: 'CRITICAL', resource: 'libssl3' }),
      found('CVE-2026-2', { severity: 'UNKNOWN', publishedDate: '', resource: 'zero\u200bwidth' }),
    ];
    await write(shop, 'replicaset-web-1-web', { vulnerabilities });
    const { reports, problems } = await open().ask([shop]);
    assert.deepEqual(problems, []);
    const publishedMs = Date.parse('2026-07-01T08:00:00Z');
    const advisories = [
      { id: 'CVE-2026-1', severity: 'Critical', package: 'libssl3', publishedMs },
      { id: 'CVE-2026-2', severity: 'Unknown' },
    ];
    assert.deepEqual(reports, [
      { scanner: 'trivy', by: `VulnerabilityReport ${shop}/replicaset-web-1-web`, scannedMs: Date.parse(at), advisories },
    ]);
  });

  it('counts neither a report of another digest, nor one of another namespace, nor one by its tag alone', async () => {
    const [shop, other] = [await namespace(), await namespace()];
    await write(shop, 'other-digest', { artifact: { repository: 'shop/web', tag: '1.2.3', digest: digest('b') } });
    await write(other, 'other-namespace');
    assert.deepEqual(await open().ask([shop]), { reports: [], statements: [], problems: [] });
    assert.equal((await open().ask([shop, other])).reports.length, 1);
    await write(shop, 'no-digest', { artifact: { repository: 'shop/web', tag: '1.2.3' } });
    await write(shop, 'odd-digest', { artifact: { repository: 'shop/web', digest: 'sha256:a' } });
    const { reports, problems } = await open().ask([shop]);
    assert.deepEqual([reports, problems], [[], [`2 VulnerabilityReports of the namespace ${shop} cannot be assigned, without a digest`]]);
  });

  it('keeps the newest report of each scanner, on all pages of the list', async () => {
    const shop = await namespace();
    for (let nr = 0; nr < 23; nr++)
      await write(shop, `web-${nr}`, {
        updateTimestamp: `2026-08-01T10:00:${String(nr).padStart(2, '0')}Z`,
        vulnerabilities: [found(`CVE-${nr}`)],
      });
    await write(shop, 'grype', { scanner: { name: 'grype', vendor: 'x', version: '1' } });
    const { reports, problems } = await open().ask([shop]);
    assert.deepEqual(problems, []);
    const names = reports.map(({ scanner, advisories }) => `${scanner} ${advisories.map(({ id }) => id).join()}`);
    assert.deepEqual(names.sort(), ['grype ', 'trivy CVE-22']);
  });

  it('joins the vulnerabilities of reports of the same time, whatever their order', async () => {
    const shop = await namespace();
    await write(shop, 'a', { vulnerabilities: [found('CVE-1', { severity: 'LOW' })] });
    await write(shop, 'b', { vulnerabilities: [found('CVE-1', { severity: 'CRITICAL' }), found('CVE-2')] });
    await write(shop, 'c');
    const { reports } = await open().ask([shop]);
    const names = reports.flatMap(({ advisories }) => advisories.map(({ id, severity }) => `${id} ${severity}`));
    assert.deepEqual(names.sort(), ['CVE-1 Critical', 'CVE-2 High']);
  });

  it('names a report that does not count, and counts that of another image', async () => {
    const shop = await namespace();
    const forged: Readonly<Record<string, [report: object, why: RegExp]>> = {
      'hidden-characters': [{ vulnerabilities: [found('CVE-\u202e2026')] }, /the id of a vulnerability cannot be read$/],
      'long-id': [{ vulnerabilities: [found('C'.repeat(65))] }, /the id of a vulnerability cannot be read$/],
      'odd-scanner': [{ scanner: { name: 'tri\nvy', vendor: 'x', version: '1' } }, /the name of its scanner cannot be read$/],
      'many-values': [
        { vulnerabilities: [found('CVE-1', { links: Array.from({ length: 20_000 }, () => '') })] },
        /more than 16384 values$/,
      ],
    };
    for (const [name, [report]] of Object.entries(forged)) await write(shop, name, report, { annotations: { vulnerabilities: '[0]' } });
    await write(shop, 'another', { artifact: { repository: 'shop/api', digest: digest('b') }, vulnerabilities: [found('CVE-2026-1')] });
    const { ask } = open();
    const { reports, problems } = await ask([shop]);
    assert.equal(reports.length, 0);
    for (const [name, [, why]] of Object.entries(forged)) {
      const problem = problems.find((one) => one.startsWith(`VulnerabilityReport ${shop}/${name} does not count: `));
      assert.match(problem ?? '', why);
    }
    assert.equal((await ask([shop], digest('b'))).reports[0]?.advisories.length, 1);
  });

  it('relies on its definition to refuse an unknown severity and a malformed list', async () => {
    const shop = await namespace();
    await assert.rejects(write(shop, 'odd', { vulnerabilities: [found('CVE-1', { severity: 'DREADFUL' })] }), /Unsupported value/);
    await assert.rejects(write(shop, 'odd', { vulnerabilities: 0 }), /Invalid value/);
  });

  /** An API server that has these pages, which a real one takes long to store. */
  const pagesOf = (page: (nr: number) => readonly object[]) => {
    let nr = 0;
    const listed: Pick<KubeClient, 'request'> = {
      request: async <T>() => JSON.stringify({ metadata: { continue: 'more' }, items: page(nr++) }) as T,
    };
    return listed;
  };
  const item = (nr: number, vulnerabilities: unknown) => ({
    metadata: { name: `image-${nr}` },
    report: {
      artifact: { digest: `sha256:${String(nr).padStart(64, '0')}` },
      scanner: { name: 'Trivy' },
      updateTimestamp: at,
      vulnerabilities,
    },
  });
  const tooMuch: Readonly<Record<string, [pages: (nr: number) => readonly object[], why: RegExp]>> = {
    vulnerabilities: [
      (nr) => [
        item(
          nr,
          Array.from({ length: 4_200 }, (_, one) => ({ vulnerabilityID: `CVE-${nr}-${one}`, severity: 'LOW' })),
        ),
      ],
      /its images have more than 50000 vulnerabilities together$/,
    ],
    reports: [(nr) => [item(nr, [])], /has more than 1000 VulnerabilityReports$/],
    text: [(nr) => [item(nr, ['x'.repeat(20_000_000)])], /are larger than 67108864 characters$/],
    fields: [(nr) => [item(nr, 'none')], /cannot be read: they are not as Trivy Operator defines them$/],
  };
  for (const [what, [pages, why]] of Object.entries(tooMuch))
    it(`gives a problem, and no partial report, for too much or malformed: ${what}`, async () => {
      const { reports, problems } = await open(pagesOf(pages)).ask(['shop'], `sha256:${'0'.repeat(64)}`);
      assert.deepEqual([reports.length, problems.length], [0, 1]);
      assert.match(problems[0] ?? '', why);
    });

  it('is listed once for simultaneous readers, and again after a minute', async () => {
    const shop = await namespace();
    await write(shop, 'web');
    let lists = 0;
    const counting: Pick<KubeClient, 'request'> = {
      request(request) {
        lists++;
        return client.request(request);
      },
    };
    const { ask, clock } = open(counting);
    const all = await Promise.all([ask([shop]), ask([shop]), ask([shop], digest('b'))]);
    assert.deepEqual([all.map(({ reports }) => reports.length), lists], [[1, 1, 0], 1]);
    clock.ms = 59_999;
    await ask([shop]);
    assert.equal(lists, 1);
    clock.ms = 60_001;
    await ask([shop]);
    assert.equal(lists, 2);
  });
});
