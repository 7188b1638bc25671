/** Rebases in a real registry, checked with other tools. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createBaseAttestations, type ReadBaseAttestations } from '../../../src/bases/rebase/read-base-attestations.ts';
import { readContent, type ReadContent } from '../../../src/bases/rebase/read-content.ts';
import { createFileSigns, type ReadFileSigns } from '../../../src/bases/rebase/read-file-signs.ts';
import { formatRebased, type Rebased, rebaseImage, type RebaseOrder, type RebaseResult } from '../../../src/bases/rebase/rebase-image.ts';
import { createRegistryClient, type RegistryClient } from '../../../src/service/registry/client.ts';
import { formats, provenanceOf } from '../recognize/build-image.ts';
import { lacksCrane, lacksSkopeo, findCrane } from '../../harness/binaries.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { type RegistryProxy, startRegistryProxy } from '../../harness/registry-proxy.ts';
import { runCommand } from '../../harness/run-command.ts';
import { bothPlatforms, pushReal, type RealBuild } from './build.ts';
import { appHistory, type Pushed, pushJava, type PushJava, newBase, newHistory, java2, large, os } from './java-images.ts';
import { inspect, unpack } from './unpack.ts';

let registry: Registry;
let proxy: RegistryProxy;
let client: RegistryClient;
const noSkopeo = await lacksSkopeo();
const noCrane = await lacksCrane();
const signal = AbortSignal.timeout(300_000);

before(async () => {
  registry = await startRegistry();
  proxy = await startRegistryProxy(registry.host);
  client = createRegistryClient({ registries: [{ host: proxy.host, insecure: true }], allowedRegistries: [], credentials: () => [] });
});
after(async () => {
  await client.close();
  await proxy.stop();
  await registry.stop();
});

const push: PushJava = (change, all) => pushJava({ registry: registry.host, proxy: proxy.host }, change, all);
const readBase: ReadContent = (located, signal) => readContent(located, client, signal);
const readFileSigns: ReadFileSigns = (source, base, signal) => createFileSigns(client)(source, base, signal);
const readAttestations: ReadBaseAttestations = (base, signal) => createBaseAttestations(client, Date.now)(base, signal);
const run = (order: RebaseOrder) =>
  rebaseImage(order, {
    registry: client,
    readFileSigns,
    readBase,
    readAttestations,
    push: client.openPush(order.application.source, () => []),
    signal,
    now: Date.now,
  });

function rebased(result: RebaseResult): Rebased {
  assert.equal(result.kind, 'rebased', 'message' in result ? result.message : '');
  return result;
}

const at = async (app: string, reference: string) => {
  const [host = '', ...path] = app.split('/');
  return client.readManifest({ registry: proxy.host, path: path.join('/') }, reference).then((found) => found && { ...found, host });
};
const json = (bytes: Buffer | undefined) => JSON.parse(String(bytes)) as Record<string, never>;

const builds: Record<string, [change: Parameters<typeof push>[0], all: Partial<RealBuild>]> = {
  'OCI, two platforms': [{}, {}],
  'OCI, one platform': [{}, { platforms: ['linux/amd64'] }],
  'Docker, two platforms': [{}, { format: formats.docker }],
  'Docker, one platform': [{}, { format: formats.docker, platforms: ['linux/amd64'] }],
  'Docker on a base of OCI': [{ application: { format: formats.docker }, oldBase: { format: formats.docker } }, {}],
  'one platform of a base with two': [{ application: { platforms: ['linux/arm64'] } }, {}],
};

for (const [name, [change, all]] of Object.entries(builds)) {
  describe(`the rebased image (${name})`, () => {
    let pushed: Pushed;
    let result: Rebased;
    const platforms = change?.application?.platforms ?? all.platforms ?? bothPlatforms;
    before(async () => {
      pushed = await push(change, all);
      result = rebased(await run(pushed.order));
    });

    test(
      'has the files of the new base and of the application, and lacks files that the application deletes',
      { skip: noSkopeo },
      async () => {
        for (const platform of platforms) {
          const files = await unpack(`${registry.host}/${result.application.repository.path}:${result.tag}`, platform);
          assert.deepEqual(Object.keys(files), [
            'app/main.jar',
            'app/run.sh',
            'etc/config',
            'etc/os-release',
            'opt/java/bin/java',
            'opt/java/new.jar',
            'usr/share/large',
          ]);
          const { 'usr/share/large': _, ...shown } = files;
          assert.deepEqual(shown, {
            'app/main.jar': `main ${platform}`,
            'app/run.sh': '#!/bin/sh',
            'etc/config': 'application',
            'etc/os-release': `Debian ${platform}`,
            'opt/java/bin/java': `java 21.0.2 ${platform}`,
            'opt/java/new.jar': 'only in 21.0.2',
          });
        }
      },
    );

    test('has a configuration that skopeo reads', { skip: noSkopeo }, async () => {
      for (const platform of platforms) {
        const image = `${pushed.app}:1.2.3-base.20261123`;
        const seen = await inspect(image, platform);
        assert.equal(seen['Architecture'], platform.split('/')[1]);
        assert.deepEqual(seen['Env'], ['PATH=/opt/java/bin:/usr/bin', 'JAVA_VERSION=21.0.2', 'NEW=1', 'APP=web']);
        assert.equal((seen['Layers'] as unknown[]).length, 6);
        const { config, history, created } = (await inspect(image, platform, '--config')) as {
          config: Record<string, unknown>;
          history: { created_by: string }[];
          created: string;
        };
        assert.equal(created, '2026-03-01T00:00:00Z');
        assert.deepEqual(history, [...newHistory, ...appHistory]);
        assert.deepEqual([config['User'], config['Entrypoint']], ['app', ['java', '-jar', '/app/main.jar']]);
        const { vendor, patch, team } = config['Labels'] as Record<string, string>;
        assert.deepEqual({ vendor, patch, team }, { vendor: 'platform team', patch: '2', team: 'shop' });
      }
    });

    test('is valid for crane', { skip: noCrane }, async () => {
      const crane = await findCrane();
      for (const platform of platforms) {
        await runCommand(crane, ['validate', '--insecure', '--platform', platform, '--remote', `${pushed.app}:${result.tag}`]);
      }
    });

    test('is the same when the rebase is repeated', async () => {
      const seen = proxy.requests.length;
      const again = rebased(await run(pushed.order));
      assert.deepEqual([again.existed, again.tag, again.plan.image], [true, result.tag, result.plan.image]);
      assert.ok(!proxy.requests.slice(seen).some(({ method }) => method === 'PUT' || method === 'POST'));
    });
  });
}

test('a rebase transfers only manifests and configurations', async () => {
  const { order, layerBytes } = await push();
  const seen = proxy.requests.length;
  const { transferred, plan } = rebased(await run(order));
  const requests = proxy.requests.slice(seen);
  const moved = requests.reduce((sum, { sent, received }) => sum + sent + received, 0);
  assert.ok(layerBytes > 1_000_000 && moved < 40_000, `${moved} bytes moved, layers have ${layerBytes}`);
  const layers = new Set(plan.layers.map(({ digest }) => digest));
  for (const { method, path } of requests)
    if (/\/blobs\/sha256/.test(path) && layers.has(path.split('/').at(-1) ?? '')) assert.equal(method, 'HEAD', path);
  // os and large are layers of the application already; java differs between the platforms, and patch does not.
  assert.equal(transferred?.mountedBlobs, 3);
});

test('annotations of a rebased image name the new base and the origin, and its provenance names all three images', async () => {
  const { app, order, digests } = await push({
    application: { indexAnnotations: { 'org.opencontainers.image.base.digest': 'sha256:old', own: 'kept' } },
  });
  const { plan, tag } = rebased(await run(order));
  const index = json((await at(app, tag))?.bytes) as unknown as { annotations: Record<string, string>; manifests: { digest: string }[] };
  const expected = {
    'org.opencontainers.image.created': '2026-03-01T00:00:00Z',
    'org.opencontainers.image.base.name': `${proxy.host}/${order.newBase.source.path}:21.0.2`,
    'org.opencontainers.image.base.digest': digests.newBase,
    'operator.technomad.dev/rebased-from': `${proxy.host}/${order.application.source.path}@${digests.application}`,
  };
  assert.deepEqual(index.annotations, { ...expected, own: 'kept' });
  for (const { digest } of index.manifests) assert.deepEqual(json((await at(app, digest))?.bytes)['annotations'], expected);

  const [referrer, ...others] = await client.listReferrers(order.application.source, plan.image.digest);
  assert.deepEqual([referrer?.artifactType, others], ['application/vnd.in-toto+json', []]);
  const manifest = json((await at(app, referrer?.digest ?? ''))?.bytes) as unknown as { subject: object; layers: { digest: string }[] };
  const { mediaType, digest, size } = plan.image;
  assert.deepEqual(manifest.subject, { mediaType, digest, size });
  const statement = json(await client.readBlob(order.application.source, manifest.layers[0]?.digest ?? '', 100_000)) as unknown as {
    subject: { digest: object }[];
    predicate: { buildDefinition: { resolvedDependencies: { name: string; digest: { sha256: string } }[] } };
  };
  assert.deepEqual(statement.subject[0]?.digest, { sha256: digest.slice('sha256:'.length) });
  assert.deepEqual(
    Object.fromEntries(
      statement.predicate.buildDefinition.resolvedDependencies.map(({ name, digest }) => [name, `sha256:${digest.sha256}`]),
    ),
    digests,
  );
});

test('attestations of the build are left out of a rebased image, with a note', async () => {
  const { app, order } = await push({ application: { statements: (digest) => [provenanceOf(digest, [])] } });
  const { plan, tag } = rebased(await run(order));
  const { manifests } = json((await at(app, tag))?.bytes) as unknown as { manifests: { platform: { os: string } }[] };
  assert.deepEqual(
    manifests.map(({ platform }) => platform.os),
    ['linux', 'linux'],
  );
  assert.match(plan.notes.join(), /^2 attestations or other entries of the index are left out/);
});

test('a rebase does not overwrite a tag of another image, and takes the next number', async () => {
  const { order, app, digests } = await push();
  const first = rebased(await run(order));
  const place = { host: registry.host, repository: order.newBase.source.path, tag: '21.0.2' };
  await pushReal(place, { ...newBase, layers: [os, large, { ...java2, 'opt/java/cert': 'renewed' }], history: newHistory.slice(0, 3) });
  const second = rebased(await run(order));
  assert.deepEqual([first.tag, second.tag], ['1.2.3-base.20261123', '1.2.3-base.20261123.2']);
  assert.equal((await at(app, first.tag))?.digest, first.plan.image.digest);
  assert.equal(rebased(await run(order)).tag, second.tag);
  // A rebased image is rebased again under the tag of its origin.
  const application = { ...order.application, reference: first.tag };
  const third = rebased(await run({ ...order, application, oldBases: [{ source: order.newBase.source, reference: digests.newBase }] }));
  assert.equal(third.tag, '1.2.3-base.20261123.3');
  assert.equal(formatRebased(second), `${proxy.host}/${order.application.source.path}:1.2.3-base.20261123.2`);
});

test('an image on the new base is left alone', async () => {
  const { order } = await push();
  const { tag } = rebased(await run(order));
  const result = await run({
    ...order,
    application: { ...order.application, reference: tag },
    oldBases: [...order.oldBases, order.newBase],
  });
  assert.equal(result.kind, 'current');
});

test('a base of another distribution is refused, and one layer of each base is read for it', async () => {
  const alpine = { 'etc/os-release': 'Alpine', 'lib/apk/db/installed': 'P:musl', 'lib/ld-musl-x86_64.so.1': 'ELF' };
  const debian = { ...os, 'var/lib/dpkg/status': 'Package: libc6', 'usr/lib/x86_64-linux-gnu/libc.so.6': 'ELF' };
  const layers = { old: [debian, java2], next: [alpine, java2] };
  const { order } = await push(
    {
      oldBase: { layers: layers.old },
      newBase: { layers: layers.next },
      application: { layers: [...layers.old, { 'app/main.jar': 'main' }] },
    },
    { platforms: ['linux/amd64'] },
  );
  const seen = proxy.requests.length;
  const result = await run(order);
  assert.ok(result.kind === 'refused', result.kind);
  assert.equal(result.reason, 'DistributionChanged');
  assert.match(result.message, /C library of the base changes from glibc to musl/);
  // Three configurations, and two layers.
  assert.equal(proxy.requests.slice(seen).filter(({ method, path }) => method === 'GET' && path.includes('/blobs/')).length, 5);
  rebased(await run({ ...order, allow: ['DistributionChanged'] }));
});

test('a rebase without permission to write returns its plan and writes nothing', async () => {
  const { order } = await push();
  const seen = proxy.requests.length;
  const result = await rebaseImage(order, { registry: client, readFileSigns, readBase, readAttestations, signal, now: Date.now });
  assert.equal(result.kind, 'planned');
  assert.ok(!proxy.requests.slice(seen).some(({ method }) => method === 'PUT' || method === 'POST'));
  assert.deepEqual(rebased(await run(order)).plan, result.plan);
});

test('a rebase that fails at any request leaves no tag, and a repetition writes the same image', async () => {
  const { order } = await push({}, { platforms: bothPlatforms });
  const isWrite = (method: string) => method === 'PUT' || method === 'POST';
  const isTag = (path: string) => /\/manifests\/1\.2\.3-base/.test(path);
  const expected = (
    (await rebaseImage(order, { registry: client, readFileSigns, readBase, readAttestations, signal, now: Date.now })) as Rebased
  ).plan.image.digest;
  let failures = 0;
  for (let allowed = 0; ; allowed++) {
    let left = allowed;
    proxy.fault = (method) => (isWrite(method) && left-- <= 0 ? { status: 500 } : undefined);
    const source = { ...order.application.source };
    const own = createRegistryClient({ registries: [{ host: proxy.host, insecure: true }], allowedRegistries: [], credentials: () => [] });
    const seen = proxy.requests.length;
    try {
      const result = await rebaseImage(order, {
        registry: own,
        readFileSigns,
        readBase: (located, signal) => readContent(located, own, signal),
        readAttestations: createBaseAttestations(own, Date.now),
        push: own.openPush(source, () => []),
        signal,
        now: Date.now,
      }).catch((error: Error) => error);
      if (!(result instanceof Error)) {
        assert.equal(rebased(result).plan.image.digest, expected);
        const writes = proxy.requests.slice(seen).filter(({ method }) => isWrite(method));
        assert.ok(isTag(writes.at(-1)?.path ?? ''), 'the tag is written last');
        break;
      }
      failures++;
      proxy.fault = () => undefined;
      assert.equal(await client.headManifest(source, '1.2.3-base.20261123'), undefined);
    } finally {
      proxy.fault = () => undefined;
      await own.close();
    }
  }
  assert.ok(failures > 5, `${failures} failures`);
  assert.equal((await client.headManifest(order.application.source, '1.2.3-base.20261123'))?.digest, expected);
});

test('a registry that does not mount layers is refused, and nothing is transferred', async () => {
  const { order } = await push();
  proxy.fault = (method, path) =>
    method === 'POST' && path.includes('mount=') ? { status: 202, headers: { location: '/v2/upload' } } : undefined;
  try {
    const result = await run(order);
    assert.equal(result.kind, 'refused');
    assert.match('message' in result ? result.message : '', /layers are mounted and never transferred/);
    assert.equal(await client.headManifest(order.application.source, '1.2.3-base.20261123'), undefined);
  } finally {
    proxy.fault = () => undefined;
  }
});
