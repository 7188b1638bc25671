/** One policy that is not what it should be hides none of the others: written past the API server, among good ones. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { oldCrd } from '../service/resources/old-crd.ts';
import { runCrd } from '../cli/run-command.ts';
import { readStoredObjects, writeStoredText } from '../harness/etcd-objects.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { assertPatchedTimes, deliver, harborBody, startWorld, type Service, type World } from './world.ts';

type Version = 'v1' | 'v1alpha1';

/** As texts: etcd holds what no object of this language is written as. */
interface Poison {
  readonly what: string;
  readonly spec?: string;
  readonly status?: string;
  readonly annotations?: Record<string, string>;
  /** The reason of the condition Ready; where there is none, the API server lets nobody write a status of such a policy. */
  readonly reason?: 'InvalidPolicy' | 'InvalidTagPolicy' | 'TargetNotFound';
}

const usual =
  '"repository":"REGISTRY/shop/good","tagPolicy":{"strategy":"SemVer"},"updateTarget":{"kind":"Deployment","name":"gone","namespace":"NAMESPACE"}';
const usualV1 = '"image":"REGISTRY/shop/good","select":{"semver":{}},"targets":[{"kind":"Deployment","name":"gone"}]';
const invalid = { reason: 'InvalidPolicy' } as const;
const works = { reason: 'TargetNotFound' } as const;
const long = 'x'.repeat(300_000);
/** Compresses badly, so that it does not fit into an annotation. */
const random = Array.from({ length: 40_000 }, (_, index) => Math.sin(index).toString(36).slice(2)).join('');
const deep = `${'['.repeat(3_000)}${']'.repeat(3_000)}`;
const savedAs = (text: string) => ({ 'operator.technomad.dev/v1': text, 'operator.technomad.dev/v1alpha1': text });

const poisons: Readonly<Record<Version, readonly Poison[]>> = {
  v1alpha1: [
    { what: 'no spec', ...invalid },
    { what: 'null', spec: 'null', ...invalid },
    { what: 'text', spec: '"x"', ...invalid },
    { what: 'number', spec: '5', ...invalid },
    { what: 'list', spec: '[1,{}]', ...invalid },
    { what: 'nothing in it', spec: '{}', ...invalid },
    { what: 'wrong types', spec: '{"repository":5,"tagPolicy":"x","updateTarget":[],"pollIntervalMinutes":"5"}', ...invalid },
    { what: 'deep', spec: `{"tagPolicy":${deep}}`, ...invalid },
    {
      what: 'huge texts',
      spec: `{"repository":"${long}","tagPolicy":{"strategy":"SemVer","pattern":"${long}"},"updateTarget":{}}`,
      ...invalid,
    },
    {
      what: 'huge random text',
      spec: `{"repository":"${random}","tagPolicy":{"strategy":"Nope"},"updateTarget":{"kind":"","name":"\\u0000"}}`,
      ...invalid,
    },
    { what: 'absurd interval', spec: `{${usual},"pollIntervalMinutes":9223372036854775807}`, ...works },
    { what: 'negative interval', spec: `{${usual},"pollIntervalMinutes":-5}`, ...works },
    { what: 'polluting names', spec: `{"__proto__":{"a":1},"constructor":{"prototype":{}},${usual}}`, ...works },
    { what: 'status of text', spec: `{${usual}}`, status: '"x"', ...works },
    { what: 'status of wrong types', spec: `{${usual}}`, status: '{"conditions":{"a":1},"lastAppliedTag":5,"__proto__":{}}', ...works },
    { what: 'saved broken', spec: `{${usual}}`, annotations: savedAs('{'), ...works },
    { what: 'saved list', spec: `{${usual}}`, annotations: savedAs('{"spec":[1],"status":"x"}'), ...works },
    { what: 'saved packed', spec: `{${usual}}`, annotations: savedAs('deflate:AAAA'), ...works },
    { what: 'saved polluting', spec: `{${usual}}`, annotations: savedAs('{"spec":{"__proto__":{"image":"evil"}}}'), ...works },
    {
      // The image is the one of the stored version, the range that of the view that was saved: v1alpha1 cannot say one.
      what: 'saved another',
      spec: `{${usual}}`,
      annotations: savedAs('{"spec":{"image":"evil","select":{"semver":{"range":"("}}}}'),
      reason: 'InvalidTagPolicy',
    },
  ],
  v1: [
    { what: 'no spec', ...invalid },
    { what: 'null', spec: 'null', ...invalid },
    { what: 'text', spec: '"x"' },
    { what: 'number', spec: '5' },
    { what: 'list', spec: '[1,{}]' },
    { what: 'nothing in it', spec: '{}', ...invalid },
    { what: 'wrong types', spec: '{"image":5,"select":[],"targets":{"a":1},"tags":"x","poll":[],"suspend":"yes","update":null}' },
    { what: 'deep', spec: `{"tags":${deep}}` },
    { what: 'huge random text', spec: `{"image":"${random}","select":{"semver":{}},"targets":[]}`, ...invalid },
    {
      what: 'thousands of nulls',
      spec: `{"image":"a","select":{"semver":{}},"targets":[${Array(5_000).fill('null').join()}]}`,
      ...invalid,
    },
    { what: 'polluting names', spec: `{"__proto__":{"image":"evil"},"constructor":{"prototype":{}},${usualV1}}`, ...works },
    { what: 'of the other version', spec: `{${usual}}`, ...invalid },
    {
      what: 'status of wrong types',
      spec: `{${usualV1}}`,
      status: '{"conditions":{"a":1},"lastAppliedTag":5,"history":7,"__proto__":{}}',
      ...works,
    },
    { what: 'saved another', spec: `{${usualV1}}`, annotations: savedAs('{"spec":{"image":"evil"}}'), ...works },
    { what: 'annotations that leave no room', spec: `{${usualV1}}`, annotations: { 'example.com/a': 'y'.repeat(262_000) }, ...works },
    { what: 'more annotations than are allowed', spec: `{${usualV1}}`, annotations: { 'example.com/a': 'y'.repeat(300_000) } },
  ],
};
const nameOf = (version: Version, { what }: Poison) => `${version}-${what.replaceAll(' ', '-')}`;
const namesOf = (which: (poison: Poison) => boolean) =>
  (['v1alpha1', 'v1'] as const).flatMap((version) => poisons[version].filter(which).map((poison) => nameOf(version, poison)));
const names = namesOf(() => true);
const good = ['a-newer', 'a-older', 'z-newer', 'z-older'];

describe('malformed policies', () => {
  let world: World;
  let service: Service;
  before(async () => {
    world = await startWorld({ crd: oldCrd });
    service = await world.start({ untilReady: false });
    await pushImage({ host: world.quiet.host, repository: 'shop/good', tag: '1.0.0', content: '1.0.0' });
  });
  after(() => world.stop());

  const crd = (action: string, ...args: string[]) => runCrd(world.cluster.kubeconfigPath, action, ...args);
  const path = (version: Version, name = '') =>
    `/apis/operator.technomad.dev/${version}/namespaces/${world.namespace}/imagepolicies${name && `/${name}`}`;
  const keyOf = (name: string) => `/registry/operator.technomad.dev/imagepolicies/${world.namespace}/${name}`;
  const list = async (version: Version): Promise<{ metadata: { name: string }; spec?: Record<string, unknown> }[]> =>
    (await world.cluster.request('GET', path(version))).items;
  const store = async (version: Version) => {
    for (const poison of poisons[version]) {
      const name = nameOf(version, poison);
      const { annotations, spec, status } = poison;
      const metadata = {
        name,
        namespace: world.namespace,
        uid: randomUUID(),
        creationTimestamp: '2026-11-01T10:00:00Z',
        generation: 1,
        annotations,
      };
      const head = `"apiVersion":"operator.technomad.dev/${version}","kind":"ImagePolicy","metadata":${JSON.stringify(metadata)}`;
      const text = `{${head}${spec === undefined ? '' : `,"spec":${spec}`}${status === undefined ? '' : `,"status":${status}`}}`;
      await writeStoredText(
        world.cluster.etcd.url,
        keyOf(name),
        text.replace('REGISTRY', world.quiet.host).replace('NAMESPACE', world.namespace),
      );
    }
  };
  const image = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
  const push = async (name: string, tag: string) => {
    await pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: tag });
    const answer = await deliver(service, harborBody(world.quiet.host, `shop/${name}`, [{ tag }]));
    assert.equal(answer.status, 202);
  };
  const createGood = async (version: Version, name: string) => {
    await pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag: '1.0.0', content: '1.0.0' });
    await world.createDeployment(name, image(name, '1.0.0'));
    if (version === 'v1') return world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'SemVer' });
    const spec = {
      repository: `${world.quiet.host}/shop/${name}`,
      tagPolicy: { strategy: 'SemVer' },
      updateTarget: { kind: 'Deployment', name, namespace: world.namespace },
    };
    await world.cluster.request('POST', path(version), {
      apiVersion: 'operator.technomad.dev/v1alpha1',
      kind: 'ImagePolicy',
      metadata: { name },
      spec,
    });
  };

  it('of v1alpha1 do not hinder "crd apply"', async () => {
    await createGood('v1alpha1', 'a-older');
    await createGood('v1alpha1', 'z-older');
    await store('v1alpha1');
    const authority = '/api/v1/namespaces/default/secrets/image-watcher-conversion';
    await waitFor('the authority', () => world.cluster.request('GET', authority));
    const { code, err } = await crd('apply', '--conversion-url', service.conversionUrl, '--ca-secret', 'default/image-watcher-conversion');
    assert.equal(code, 0, err);
    assert.match(err, new RegExp(`converts all ${poisons.v1alpha1.length + 2} objects`));
  });

  it('are listed and read with all the others, in both versions', async () => {
    await store('v1');
    await createGood('v1', 'a-newer');
    await createGood('v1', 'z-newer');
    for (const version of ['v1', 'v1alpha1'] as const) {
      const all = await waitFor(`all policies in ${version}`, async () => {
        const items = await list(version);
        return items.length === names.length + good.length && items;
      });
      assert.deepEqual(all.map(({ metadata }) => metadata.name).sort(), [...names, ...good].sort());
      const field = version === 'v1' ? 'image' : 'repository';
      for (const name of good) {
        assert.equal(all.find(({ metadata }) => metadata.name === name)?.spec?.[field], `${world.quiet.host}/shop/${name}`);
      }
      for (const name of names) await world.cluster.request('GET', path(version, name));
    }
  });

  for (const name of good) {
    it(`do not prevent ${name} from being updated`, async () => {
      await world.waitForFirstLook(name);
      await push(name, '1.0.1');
      assertPatchedTimes(await world.waitForImage(name, image(name, '1.0.1')), 1);
    });
  }

  for (const version of ['v1alpha1', 'v1'] as const) {
    for (const poison of poisons[version]) {
      const { what, reason } = poison;
      const name = nameOf(version, poison);
      it(`stored as ${version} (${what}) ${reason === undefined ? 'get no status that the API server accepts, and the service continues' : `are reported as ${reason}`}`, async () => {
        if (reason === undefined) {
          await assert.rejects(world.cluster.request('PATCH', path('v1', `${name}/status`), { status: { lastAppliedTag: 'x' } }), {
            status: 422,
          });
          return;
        }
        await world.waitForCondition(name, 'Ready', reason);
        assert.equal((await world.condition(name, 'Stalled'))?.status, 'True');
      });
    }
  }

  it('do not prevent "crd migrate" from rewriting the others, and are named', async () => {
    const { code, out } = await crd('migrate');
    assert.equal(code, 1, out);
    const refused = [...out.matchAll(/^ {2}[^/\s]+\/(\S+): /gm)].map(([, name = '']) => name);
    assert.deepEqual(refused.toSorted(), namesOf(({ reason }) => reason === undefined).sort());
    const stored = await readStoredObjects(world.cluster.etcd.url, keyOf(''));
    assert.ok(stored.every(({ value }) => value.apiVersion === 'operator.technomad.dev/v1'));
  });

  it('do not prevent a restarted service from continuing', async () => {
    await service.kill9();
    await service.restart();
    for (const name of good) {
      await push(name, '1.0.2');
      assertPatchedTimes(await world.waitForImage(name, image(name, '1.0.2')), 2);
    }
  });
});
