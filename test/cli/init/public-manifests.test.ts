/** `image-watcher init` for public demos, whose images keep their names: the registry of the test stands for the public ones. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inParallel } from '../../../src/core/async/in-parallel.ts';
import { parseImageReference } from '../../../src/core/model/image-reference.ts';
import type { Proposals } from '../../../src/cli/init/propose-policies.ts';
import { policiesPath } from '../../service/resources/install-crd.ts';
import { pushImage } from '../../harness/push-image.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { startCliWorld, type CliWorld } from '../cluster-world.ts';
import { runCommand } from '../run-command.ts';
import { publicManifests, publicTags } from './public-manifests.ts';

let world: CliWorld;
let registry: Registry;
let config: string;
const namespaces = new Map<string, string>();

interface Parsed {
  readonly kind: string;
  readonly name: string;
  readonly containers: Readonly<Record<'containers' | 'initContainers', readonly { readonly name: string; readonly image: string }[]>>;
}

const workloadsOf = (text: string): Parsed[] => text.trim().split(/\n\s*/).map(readLine);

function readLine(line: string): Parsed {
  const [title = '', ...words] = line.split(' ');
  const [name = '', kind = 'Deployment'] = title.split('/').toReversed();
  const start = words.includes('init') ? words.indexOf('init') : words.length;
  const read = (list: readonly string[]) =>
    list.map((word) => ({ name: word.split('=')[0] ?? '', image: word.slice(word.indexOf('=') + 1) }));
  return { kind, name, containers: { containers: read(words.slice(0, start)), initContainers: read(words.slice(start + 1)) } };
}

/** The patch before and after the one of a tag: `v0.10.6` → v0.10.5 v0.10.6 v0.10.7. */
function neighbours(tag: string): string {
  const patch = Number(/(\d+)$/.exec(tag)?.[1]);
  return [Math.max(0, patch - 1), patch, patch + 1].map((number) => tag.replace(/\d+$/, String(number))).join(' ');
}

before(async () => {
  [world, registry] = await Promise.all([startCliWorld(), startRegistry()]);
  config = join(tempFolder('public'), 'config.yaml');
  const aliases = ['docker.io', 'ghcr.io', 'quay.io', 'us-central1-docker.pkg.dev'];
  writeFileSync(config, JSON.stringify({ registries: [{ host: registry.host, insecure: true, concurrency: 32, aliases }] }));
  const tags = new Map(Object.entries(publicTags));
  const all = publicManifests.flatMap(({ workloads }) => workloadsOf(workloads));
  for (const { containers } of all)
    for (const { image } of Object.values(containers).flat()) {
      const {
        repository: { path },
        tag = 'latest',
      } = parseImageReference(image);
      if (!tags.has(path)) tags.set(path, neighbours(tag));
    }
  const pushes = [...tags].flatMap(([repository, list]) => [...new Set(list.split(' '))].map((tag) => ({ repository, tag })));
  const pushed = await inParallel(pushes, 8, ({ repository, tag }) =>
    pushImage({ host: registry.host, repository, tag, content: `${repository}:${tag}` }),
  );
  for (const one of pushed) if (one.status === 'rejected') throw one.reason;
  for (const { name, workloads } of publicManifests) {
    const namespace = await world.cluster.namespace(name);
    namespaces.set(name, namespace);
    for (const workload of workloadsOf(workloads)) await create(namespace, workload);
  }
});
after(() => Promise.all([world.stop(), registry.stop()]));

async function create(namespace: string, { kind, name, containers }: Parsed): Promise<void> {
  const labels = { app: name };
  const spec = { selector: { matchLabels: labels }, serviceName: name, template: { metadata: { labels }, spec: containers } };
  const path = `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
  await world.cluster.request('POST', path, { metadata: { name }, spec });
}

const run = (name: string, ...args: string[]) => {
  const options = ['--kubeconfig', world.kubeconfig, '--config', config, '--docker-config', '/dev/null'];
  return runCommand('init', ['-n', namespaces.get(name) ?? '', ...options, ...args]);
};

async function propose(name: string): Promise<Proposals> {
  const { code, out } = await run(name, '-o', 'json');
  assert.equal(code, 0);
  return JSON.parse(out) as Proposals;
}

/** The policy on a line: its name, what it selects by, the tag now, and its targets. */
function describe({ policy: { metadata, spec }, selects = '' }: Proposals['policies'][number]): string {
  const { semver, digest } = spec.select;
  const suffix = /\)(-[a-z-]+)\$$/.exec(spec.tags?.allow ?? '')?.[1] ?? '';
  const targets = spec.targets.map((target) => target.name).join(' ');
  return `${metadata.name}: ${semver?.range ?? digest?.tag}${suffix} → ${selects}: ${targets}`;
}

for (const { name, expected } of publicManifests)
  test(`init proposes for each workload of ${name} the selection that its manifest intends`, async () => {
    const found = await propose(name);
    assert.deepEqual(found.leftOut, []);
    assert.deepEqual(found.policies.map(describe).toSorted(), expected.trim().split(/\n\s*/).toSorted());
  });

test('the API server accepts the policies that init proposes for public manifests, and they change nothing immediately', async () => {
  for (const [name, namespace] of namespaces) {
    const diff = await run(name, '--diff');
    assert.equal(diff.code, 0);
    assert.match(diff.err, /^nothing would change at once; /);
    for (const { policy } of (await propose(name)).policies) await world.cluster.request('POST', policiesPath(namespace, 'v1'), policy);
    assert.deepEqual((await propose(name)).policies, [], 'each image has a policy now');
  }
});
