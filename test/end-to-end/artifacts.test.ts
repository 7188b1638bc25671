/** The examples of docs/charts.md for artifacts that are neither images nor charts, each with the definition of its project and content of its media types in a real registry. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { parseFieldPath } from '../../src/core/model/field-path.ts';
import { valueAt } from '../../src/service/resources/validation/problem.ts';
import type { Spec } from '../../src/service/resources/v1.ts';
import { pushBlob, putManifest } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { pathOf } from '../service/kube/targets/custom-definition.ts';
import { installDefinition } from '../service/kube/targets/real-definition.ts';
import { announce, startWorld, type World } from './world.ts';

const kinds = {
  OCIRepository: { group: 'source.toolkit.fluxcd.io', version: 'v1', kind: 'OCIRepository', plural: 'ocirepositories' },
  WasmPlugin: { group: 'extensions.istio.io', version: 'v1alpha1', kind: 'WasmPlugin', plural: 'wasmplugins' },
  EnvoyExtensionPolicy: {
    group: 'gateway.envoyproxy.io',
    version: 'v1alpha1',
    kind: 'EnvoyExtensionPolicy',
    plural: 'envoyextensionpolicies',
  },
  SpinApp: { group: 'core.spinkube.dev', version: 'v1alpha1', kind: 'SpinApp', plural: 'spinapps' },
} as const;

/** What each repository of the examples holds: the configuration and the content, as the tools of these projects push them. */
const mediaTypes: Readonly<Record<string, readonly [config: string, content: string]>> = {
  'cluster-policies': ['application/vnd.cncf.flux.config.v1+json', 'application/vnd.cncf.flux.content.v1.tar+gzip'],
  authz: ['application/vnd.oci.image.config.v1+json', 'application/vnd.oci.image.layer.v1.tar+gzip'],
  openid: ['application/vnd.module.wasm.config.v1+json', 'application/vnd.module.wasm.content.layer.v1+wasm'],
  headers: ['application/vnd.module.wasm.config.v1+json', 'application/vnd.module.wasm.content.layer.v1+wasm'],
  hello: ['application/vnd.oci.image.config.v1+json', 'application/vnd.wasm.content.layer.v1+wasm'],
};

interface Example {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: { readonly name: string };
  readonly spec: Spec;
}

/** The blocks of YAML of the section, as a reader copies them. */
const page = readFileSync(join(import.meta.dirname, '../../docs/charts.md'), 'utf8');
const section = page.split('\n## ').find((part) => part.startsWith('Policies, WebAssembly')) ?? '';
const blocks = [...section.matchAll(/```yaml\n(.*?)```/gs)].flatMap(([, text]) => text ?? []);
const [allowed, ...others] = blocks.filter((text) => text.startsWith('customTargets'));
const examples = blocks.filter((text) => !text.startsWith('customTargets'));

describe('artifacts that are neither images nor charts', () => {
  let world: World;
  before(async () => {
    const verbs = ['get', 'list', 'watch', 'patch'];
    const extraRules = [
      ...Object.values(kinds).map(({ group, plural }) => ({ apiGroups: [group], resources: [plural], verbs })),
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['opa-bundle'], verbs },
    ];
    world = await startWorld({ extraRules });
    for (const { kind } of Object.values(kinds)) await installDefinition(world.cluster, kind.toLowerCase());
    const config = parse(here(allowed ?? '').replace('namespace: opa', `namespace: ${world.namespace}`)) as Record<string, unknown>;
    await announce(world.registry, await world.start({ config }));
  });
  after(() => world.stop());

  const here = (text: string) => text.replaceAll('ghcr.io/shop', `${world.registry.host}/shop`);
  const pathFor = (kind: string): string => {
    const found = Object.entries(kinds).find(([name]) => name === kind)?.[1];
    if (found !== undefined) return pathOf(found, world.namespace);
    if (kind === 'ConfigMap') return `/api/v1/namespaces/${world.namespace}/configmaps`;
    return kind === 'Deployment' ? world.deploymentPath('').slice(0, -1) : world.policyPath('').slice(0, -1);
  };
  const push = async (name: string, tag: string) => {
    const [configType, contentType] = mediaTypes[name] ?? assert.fail(`no media types of ${name}`);
    const target = { host: world.registry.host, repository: `shop/${name}`, tag };
    const config = await pushBlob(target, configType, Buffer.from('{}'));
    const layers = [await pushBlob(target, contentType, Buffer.from(`${name} ${tag}`))];
    const mediaType = 'application/vnd.oci.image.manifest.v1+json';
    return putManifest(target, tag, mediaType, { schemaVersion: 2, mediaType, config, layers });
  };

  it('have five examples in the documentation, all with the same settings', () => assert.deepEqual([examples.length, others], [5, []]));

  for (const text of examples) {
    const title = parseAllDocuments(text).map((document) => (document.toJS() as Example).kind);
    it(`reach the field of the example when they are pushed: ${title.join(', ')}`, async () => {
      const objects = parseAllDocuments(here(text)).map((document) => document.toJS() as Example);
      const policy = objects.find(({ kind }) => kind === 'ImagePolicy') ?? assert.fail('no policy');
      const name = policy.spec.image.split('/').at(-1) ?? '';
      const [{ kind, name: target = '', fields = {} } = assert.fail('no target')] = policy.spec.targets;
      const path = fields.image ?? fields.tag ?? assert.fail('no field');
      const read = async () =>
        String(valueAt(await world.cluster.request<object>('GET', `${pathFor(kind)}/${target}`), parseFieldPath(path)));
      await push(name, '1.0.0');
      for (const object of objects) await world.cluster.request('POST', pathFor(object.kind), object);
      const before1 = await read();
      await world.waitForFirstLook(policy.metadata.name);
      const { digest } = await push(name, '1.1.0');
      const pinned = policy.spec.update?.pin === 'Digest' ? `@${digest}` : '';
      const wanted = `${before1.replace('1.0.0', '1.1.0').replace(/@.*/, '')}${pinned}`;
      await waitFor(`${path} of ${kind} to be ${wanted}`, async () => (await read()) === wanted);
      if (kind !== 'ConfigMap') return;
      await waitFor('the restart', async () => (await world.readDeployment('opa')).metadata.generation === 2);
    });
  }
});
