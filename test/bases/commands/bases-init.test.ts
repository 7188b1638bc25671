/** `image-watcher bases init` with a real API server and a real registry. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { consentAnnotation } from '../../../src/core/model/consent-annotation.ts';
import { UsageError } from '../../../src/service/command-line/command.ts';
import { startCliWorld, withNamespace, type CliWorld } from '../../cli/cluster-world.ts';
import { runCommand } from '../../cli/run-command.ts';
import { installPlainCrds } from '../../service/resources/install-crd.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { kubeconfigWithRules } from '../../harness/service-account.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { buildImage } from '../recognize/build-image.ts';

interface Document {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

interface Report {
  readonly policies: readonly {
    readonly policy: Document;
    readonly selects: string;
    readonly images: { readonly current: readonly string[]; readonly behind: readonly string[] };
    readonly missingConsents: readonly string[];
  }[];
  readonly leftOut: readonly { readonly image: string; readonly why: string }[];
  readonly unrelated: number;
}

let world: CliWorld;
let registry: Registry;
let config: string;
let [silent, consenting] = ['', ''];

const base = () => `${registry.host}/library/base-java`;
const slim = () => `${registry.host}/library/slim`;

async function push(repository: string, tag: string, layers: string, baseDigest?: string): Promise<string> {
  const labels = {
    'org.opencontainers.image.base.name': `${slim()}:bookworm-slim`,
    'org.opencontainers.image.base.digest': baseDigest ?? '',
  };
  const build = { layers, platforms: ['linux/amd64'], ...(baseDigest !== undefined && { labels: () => labels }) };
  return (await buildImage({ host: registry.host, repository, tag }, build)).digest;
}

async function deploy(namespace: string, name: string): Promise<void> {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c0', image: `${registry.host}/shop/${name}:1.0.0` }] } };
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  await world.cluster.request('POST', path, { metadata: { name }, spec: { selector: { matchLabels: labels }, template } });
}

before(async () => {
  [world, registry] = await Promise.all([startCliWorld(), startRegistry()]);
  config = join(tempFolder('bases-init'), 'config.yaml');
  writeFileSync(config, JSON.stringify({ registries: [{ host: registry.host, insecure: true, concurrency: 32 }] }));
  for (const [tag, layers] of [
    ['17.0.9', 'os java17'],
    ['21.0.1', 'os java1'],
    ['21.0.2', 'os java2'],
    ['21', 'os java2'],
    ['latest', 'os java2'],
    ['21.0.1-alpine', 'alpine java1'],
    ['21.0.2-alpine', 'alpine java2'],
  ] as const)
    await push('library/base-java', tag, layers);
  const former = await push('library/slim', 'bookworm-slim', 'slim1');
  await push('library/slim', 'bookworm-slim', 'slim2');
  await Promise.all([
    push('shop/old', '1.0.0', 'os java1 old'),
    push('shop/new', '1.0.0', 'os java2 new'),
    push('shop/theirs', '1.0.0', 'os java1 theirs'),
    push('shop/agreed', '1.0.0', 'os java1 agreed'),
    push('shop/legacy', '1.0.0', 'os java17 legacy'),
    push('shop/small', '1.0.0', 'alpine java1 small'),
    push('shop/odd', '1.0.0', 'os odd'),
    push('shop/other', '1.0.0', 'scratch other'),
    push('shop/former', '1.0.0', 'slim1 former', former),
    push('shop/present', '1.0.0', 'slim2 present'),
  ]);
  [silent, consenting] = [await world.cluster.namespace('silent'), await world.cluster.namespace('consenting')];
  await world.cluster.request('PATCH', `/api/v1/namespaces/${consenting}`, {
    metadata: { annotations: { [consentAnnotation]: world.namespace } },
  });
  for (const name of ['old', 'new', 'legacy', 'small', 'odd', 'other', 'former', 'present', 'gone']) await deploy(world.namespace, name);
  await deploy(silent, 'theirs');
  await deploy(consenting, 'agreed');
});
after(() => Promise.all([world.stop(), registry.stop()]));

const run = (args: readonly string[], kubeconfig = world.kubeconfig, terminal: Parameters<typeof runCommand>[2] = {}) =>
  runCommand('bases', ['init', ...args, '--kubeconfig', kubeconfig, '--config', config, '--docker-config', '/dev/null'], terminal);
const policiesPath = (namespace: string) => `/apis/operator.technomad.dev/v1/namespaces/${namespace}/baseimagepolicies`;

async function readReport(...args: string[]): Promise<Report> {
  const { code, out } = await run([...args, '-o', 'json']);
  assert.equal(code, 0);
  return JSON.parse(out) as Report;
}

const short = (images: readonly string[]) => images.map((image) => image.replace(`${registry.host}/shop/`, ''));

test('bases init writes a policy for each line of the base that is used, with the images that it would find', async () => {
  const { policies, leftOut, unrelated } = await readReport(base());
  assert.deepEqual(
    policies.map(({ policy, selects, images }) => [
      policy.metadata.name,
      policy.spec,
      selects,
      short(images.current),
      short(images.behind),
    ]),
    [
      [
        'base-java-21-alpine',
        {
          image: base(),
          select: { semver: { range: '21.x' } },
          tags: { allow: String.raw`^(?P<version>[0-9]+\.[0-9]+\.[0-9]+)-alpine$`, extract: '${version}' },
        },
        '21.0.2-alpine',
        [],
        ['small:1.0.0'],
      ],
      ['base-java-21', { image: base(), select: { semver: { range: '21.x' } } }, '21.0.2', ['new:1.0.0'], ['old:1.0.0']],
      ['base-java-17', { image: base(), select: { semver: { range: '17.x' } } }, '17.0.9', ['legacy:1.0.0'], []],
    ],
  );
  const whys = Object.fromEntries(leftOut.map(({ image, why }) => [short([image])[0], why]));
  assert.match(whys['odd:1.0.0'] ?? '', /^its base is not known: its lowest layer is that of /);
  assert.match(whys['gone:1.0.0'] ?? '', /^its base is not known: the registry does not have /);
  assert.deepEqual([leftOut.length, unrelated], [2, 3]);
});

test('bases init follows a mutable tag by its digest, and counts images on its former image as behind', async () => {
  const { policies } = await readReport(slim());
  assert.deepEqual(
    policies.map(({ policy, images }) => [policy.metadata.name, policy.spec, short(images.current), short(images.behind)]),
    [['slim-bookworm-slim', { image: slim(), select: { digest: { tag: 'bookworm-slim' } } }, ['present:1.0.0'], ['former:1.0.0']]],
  );
});

test('bases init -A writes comments that say whose consent is missing and what to add next', async () => {
  const { code, out, err } = await run([base(), '-A', '-n', world.namespace]);
  assert.equal(code, 0);
  assert.match(err, /^3 policies for 6 images; \d+ images left out, \d+ not built on the base\n$/);
  const [, notes = ''] =
    /((?:^#.*\n)+)apiVersion: .*\nkind: BaseImagePolicy\nmetadata:\n {2}name: base-java-21\n/m.exec(out) ?? assert.fail(out);
  assert.match(notes, /^# Selects now: 21\.0\.2\. The highest 21\.x is selected\.\n/);
  assert.match(notes, /\n# 1 image on it, 3 behind: \S+\/agreed:1\.0\.0, \S+\/old:1\.0\.0, \S+\/theirs:1\.0\.0\.\n/);
  const grant = `{policiesFrom: ${world.namespace}, namespaces: [${silent}]}`;
  assert.ok(
    notes.includes(`It does not see 1 workload without consent, in ${silent}: add ${grant} to consents in the configuration`),
    notes,
  );
  const push = ['agreed', 'new', 'old', 'theirs'].map((name) => `${registry.host}/shop/${name}`).join(', ');
  assert.ok(
    notes.includes(`add onNewBase: [{rebase: {}}] here, and {policiesFrom: ${world.namespace}, push: [${push}]} to consents`),
    notes,
  );

  // What the operator grants is not missing.
  const granted = join(tempFolder('bases-init'), 'config.yaml');
  const consents = [{ policiesFrom: world.namespace, namespaces: ['silent-*', silent] }];
  writeFileSync(granted, JSON.stringify({ ...(JSON.parse(readFileSync(config, 'utf8')) as object), consents }));
  const args = ['init', base(), '-A', '-n', world.namespace, '--kubeconfig', world.kubeconfig, '--config', granted, '-o', 'json'];
  const report = JSON.parse((await runCommand('bases', [...args, '--docker-config', '/dev/null'])).out) as Report;
  assert.ok(report.policies.every(({ missingConsents }) => missingConsents.length === 0));
});

test('bases init asks on a terminal which policies to write into which file', async () => {
  const file = join(tempFolder('bases-init'), 'policies.yaml');
  const answers = ['c', 'n', 'y', 'n', file];
  const { code, out } = await run([base()], world.kubeconfig, { ask: () => Promise.resolve(answers.shift()) });
  assert.equal(code, 0);
  assert.match(out, /base-java-21-alpine\s+21\.0\.2-alpine\s+0\s+1\s+-\n/);
  assert.match(out, /Wrote 1 policy\. Apply them: kubectl apply -f /);
  const written = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Document);
  assert.deepEqual(
    written.map(({ metadata }) => metadata.name),
    ['base-java-21'],
  );
});

test('the API server accepts the policies of bases init, which does not propose an applied policy again', async () => {
  // The tests before ran without the definition.
  await installPlainCrds(world.cluster);
  const { out } = await run([base()]);
  const documents = parseAllDocuments(out).map((document) => document.toJS() as Document);
  assert.equal(documents.length, 3);
  const path = policiesPath(world.namespace);
  for (const document of documents) await world.cluster.request('POST', `${path}?dryRun=All&fieldValidation=Strict`, document);
  const [, java21] = documents;
  await world.cluster.request('POST', path, java21);
  const { policies, leftOut } = await readReport(base());
  assert.deepEqual(
    policies.map(({ policy }) => policy.metadata.name),
    ['base-java-21-alpine', 'base-java-17'],
  );
  const followed = leftOut.filter(({ why }) => why === `BaseImagePolicy ${world.namespace}/base-java-21 selects 21.0.2 already`);
  assert.deepEqual(short(followed.map(({ image }) => image)).toSorted(), ['new:1.0.0', 'old:1.0.0']);

  const rules = [{ apiGroups: ['apps', 'batch'], resources: ['*'], verbs: ['list'] }];
  const limited = withNamespace(await kubeconfigWithRules(world.cluster, world.namespace, 'limited', rules), world.namespace);
  const { err } = await run([base()], limited);
  assert.match(
    err,
    /^you may not list pods: .*\nyou may not list BaseImagePolicies: a policy that there is already may be proposed again\n/,
  );
  await world.cluster.request('DELETE', `${path}/base-java-21`);
});

describe('bases init reports in one sentence', () => {
  test('that no image is on the base, that the base does not exist, and that there are no workloads', async () => {
    await push('library/lonely', '1.0.0', 'lonely');
    const { code, out, err } = await run([`${registry.host}/library/lonely`]);
    assert.deepEqual([code, err], [1, '0 policies for 0 images; 1 image left out, 8 not built on the base\n']);
    assert.match(out, /^# 8 images not built on \S+\/library\/lonely: not listed\.\n# Left out: \S+\/shop\/gone:1\.0\.0 of Deployment /);
    const missing = await run([`${registry.host}/library/nothing`]);
    assert.deepEqual([missing.code, missing.out], [1, '']);
    assert.match(missing.err, /^the registry does not know \S+\/library\/nothing: check the name\n$/);
    const empty = await world.cluster.namespace('empty');
    const none = await run([base(), '-n', empty]);
    assert.deepEqual([none.code, none.out], [1, '']);
    assert.match(none.err, /^there are no workloads in the namespace empty/);
  });

  test('wrong usage', async () => {
    for (const [args, message] of [
      [['init'], /^name the repository of the base image/],
      [['init', 'harbor.example.com/base:21'], /^REPOSITORY has no tag: write only the repository/],
      [['init', 'harbor.example.com/base', '--tags', '0'], /^--tags is a number/],
      [['init', 'harbor.example.com/base', '--range', '21.x'], /^there is no option --range/],
    ] as const)
      await assert.rejects(
        runCommand('bases', args),
        (error) => error instanceof UsageError && message.test(error.message),
        args.join(' '),
      );
    const { out } = await runCommand('bases', ['--help']);
    assert.match(out, /Further commands:\n {2}image-watcher bases init {2}write policies/);
    assert.match((await runCommand('bases', ['init', '--help'])).out, /^Usage: image-watcher bases init \[OPTIONS\] REPOSITORY\n/);
  });
});
