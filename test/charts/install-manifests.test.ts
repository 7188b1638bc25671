/** charts/install on a real API server: what `kubectl apply --server-side` sends, once, again, and of a later version. */
import assert from 'node:assert/strict';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { installFiles, installObjects, manifestOf, overlays } from '../../docs/generate/install.ts';
import { crdName } from '../../src/service/resources/group.ts';
import { loadSettings } from '../../src/service/config/settings.ts';
import { plainPath, policiesPath } from '../service/resources/install-crd.ts';
import { findKustomize, lacksHelm, lacksKustomize } from '../harness/binaries.ts';
import { startControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import type { Manifest } from '../harness/helm.ts';
import { runCommand } from '../harness/run-command.ts';
import { kubeconfigOf } from '../harness/service-account.ts';
import { startService, type Service } from '../harness/service.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { podTemplatesOf, resourceOf, type PodTemplate } from './manifests.ts';
import { playKubelet } from './play-kubelet.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'charts/install');
const namespace = 'image-watcher';
const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdName}`;
const secretPath = `/api/v1/namespaces/${namespace}/secrets/image-watcher-redis`;
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const jobOf = (one: string, name = 'redis-password') => `image-watcher-${name}-${one.replaceAll('.', '-')}`;
/** In place of the Service, to which nothing leads here: the URL of the process, and where its authority is. */
const endpointArgs = (args: readonly string[], { conversionUrl }: Service) =>
  args.flatMap((arg, index) =>
    arg === '--conversion-service' ? ['--conversion-url', conversionUrl, '--ca-secret'] : [args[index - 1] === '--timeout' ? '30s' : arg],
  );
/** A version after any other. */
const laterVersion = '99.0.0';
const skip = (await lacksHelm()) ?? (await lacksKustomize()) ?? false;

const read = (path: string) => readFileSync(join(folder, path), 'utf8');
const objectsIn = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Manifest);
const build = async (kustomization: string) => objectsIn(await runCommand(await findKustomize(), ['build', kustomization]));
const keyOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
const sorted = (objects: readonly Manifest[]) => objects.toSorted((one, other) => keyOf(one).localeCompare(keyOf(other)));

const ownSettings = {
  'config.yaml': stringify({ registries: [{ host: 'registry.local:5000', insecure: true }] }),
  'receivers.yaml': stringify({ receivers: [{ name: 'harbor', provider: 'harbor', secrets: [{ env: 'HARBOR_SECRET' }] }] }),
};

describe('charts/install', { skip }, () => {
  it('is what the chart renders', async () => {
    for (const { path, content } of await installFiles())
      assert.ok(readFileSync(join(root, path), 'utf8') === content, `${path} is stale: run "npm run generate"`);
  });

  for (const [name, values] of Object.entries(overlays)) {
    it(`has an overlay ${name} from which kustomize builds the same as the chart`, async () => {
      const rendered = (await installObjects(values)).map(manifestOf);
      assert.deepEqual(sorted(await build(join(folder, 'overlays', name))), sorted(rendered));
    });
  }

  it('contains nothing that only Helm understands', () => {
    assert.ok(!/helm\.sh|managed-by/.test(read('base/install.yaml')));
    // What remains without a namespace is found by its label when it is removed.
    const inNoNamespace = objectsIn(read('base/install.yaml')).filter(({ metadata }) => metadata.namespace === undefined);
    const [own, labelled] = [inNoNamespace.slice(0, 4), inNoNamespace.slice(4)];
    assert.deepEqual(
      own.map(({ kind }) => kind),
      ['Namespace', ...Array<string>(3).fill('CustomResourceDefinition')],
    );
    for (const object of labelled) assert.equal(object.metadata.labels?.['app.kubernetes.io/instance'], 'image-watcher', keyOf(object));
  });

  /** Builds what docs/installation.md lets a user write around `installation`. */
  const buildAround = (installation: string, kustomization: object, files: Readonly<Record<string, string>> = {}) => {
    const user = tempFolder('kustomization');
    const resources = [relative(realpathSync(user), join(folder, installation))];
    for (const [name, content] of Object.entries({ ...files, 'kustomization.yaml': stringify({ ...kustomization, resources }) }))
      writeFileSync(join(user, name), content);
    return build(user);
  };

  it('grants in any namespace what the overlay namespaced grants in one', async () => {
    const roles = 'overlays/namespaced/roles';
    const [shop, normal] = await Promise.all([buildAround(roles, { namespace: 'shop' }), build(join(folder, roles))]);
    assert.deepEqual(
      shop,
      normal.map((object) => ({ ...object, metadata: { ...object.metadata, namespace: 'shop' } })),
    );
  });

  it('restarts the pods whenever a user changes settings that kustomize generates', async () => {
    const generator = { name: 'image-watcher-settings', namespace, files: Object.keys(ownSettings) };
    const built = await buildAround('base', { configMapGenerator: [generator] }, ownSettings);
    const generated = built.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name !== 'image-watcher')?.metadata.name ?? '';
    assert.match(generated, /^image-watcher-settings-\w{10}$/);
    const pods = podTemplatesOf(built).filter(({ spec }) => spec.containers[0]?.args?.[0] === 'serve');
    assert.equal(pods.filter(({ spec }) => JSON.stringify(spec).includes(`"name":"${generated}"`)).length, 3);
  });
});

interface ConfigSource {
  readonly configMap: { readonly name: string; readonly optional?: boolean; readonly items: { key: string; path: string }[] };
}

/** The folder that the kubelet would mount as the configuration of a pod. */
function mountConfig({ spec }: PodTemplate, maps: Readonly<Record<string, Readonly<Record<string, string>>>>): string {
  const { volumes } = spec as PodTemplate['spec'] & { volumes: { name: string; projected?: { sources: ConfigSource[] } }[] };
  const mounted = tempFolder('config');
  for (const { configMap } of volumes.find(({ name }) => name === 'config')?.projected?.sources ?? []) {
    for (const { key, path } of configMap.items) {
      const content = maps[configMap.name]?.[key];
      assert.ok(content !== undefined || configMap.optional, `${configMap.name} has no ${key}`);
      const passwordFile = join(mounted, 'password');
      writeFileSync(passwordFile, 'a password');
      if (content !== undefined) writeFileSync(join(mounted, path), content.replace('/etc/image-watcher-redis/password', passwordFile));
    }
  }
  return mounted;
}

for (const installation of ['base', ...Object.keys(overlays).map((name) => `overlays/${name}`)]) {
  describe(`charts/install/${installation}`, { skip }, () => {
    const isNamespaced = installation === 'overlays/namespaced';
    let cluster: ControlPlane;
    let objects: readonly Manifest[];
    let kubelet: ReturnType<typeof playKubelet>;
    let converting: Service | undefined;
    before(async () => {
      [cluster, objects] = await Promise.all([startControlPlane({ fsync: false }), build(join(folder, installation))]);
      kubelet = playKubelet(cluster, namespace, async (args) =>
        args[0] === 'crd' ? endpointArgs(args, await waitFor('the conversion webhook', () => converting)) : args,
      );
    });
    after(async () => {
      await kubelet.stop();
      await converting?.stop();
      await cluster.stop();
    });

    const pathOf = (object: Manifest) => `${resourceOf(object, namespace)}/${object.metadata.name}`;
    /** `kubectl apply --server-side`: a field that does not exist is an error, and so is one that somebody else owns. */
    const apply = async (manifests: readonly Manifest[]) => {
      for (const object of manifests) {
        const query = 'fieldManager=kubectl&fieldValidation=Strict';
        await cluster.request('PATCH', `${pathOf(object)}?${query}`, object, 'application/apply-patch+yaml');
      }
    };
    const versionsOf = async (manifests: readonly Manifest[]) =>
      Object.fromEntries(
        await Promise.all(
          manifests.map(async (object) => [keyOf(object), (await cluster.request('GET', pathOf(object))).metadata.resourceVersion]),
        ),
      ) as Record<string, string>;
    const ranJobs = (of = 'redis-password') =>
      kubelet.ran.filter(({ name }) => name.includes(of)).map(({ name, code, out, err }) => [name, code, code === 0 ? out : err]);
    const definition = () => cluster.request('GET', crdPath);
    const isServed = (version: string) =>
      waitFor(`${version} to be served`, () => cluster.request('GET', policiesPath('default', version)).then(() => true));
    const hasPassword = () => objects.some(({ kind, metadata }) => kind === 'Job' && metadata.name.includes('redis-password'));
    const password = async () => (await cluster.request('GET', secretPath)).data.password as string;
    const webhookPod = () =>
      podTemplatesOf(objects).find(({ labels }) => labels['image-watcher/convert'] === 'true')?.spec.serviceAccountName;
    let firstPassword = '';

    it('is accepted by the API server as a whole', async () => {
      if (isNamespaced) await apply(objectsIn(read('definition-v1.yaml')));
      await apply(objects);
      if (!isNamespaced) {
        // No object of the manifests names the webhook, so that nothing asks it before it answers.
        assert.ok(!objects.some(({ metadata }) => metadata.name === crdName));
        await assert.rejects(definition(), /404/);
        converting = await startService({
          redisUrl: 'redis://127.0.0.1:1',
          kubeconfig: await kubeconfigOf(cluster, { namespace, name: webhookPod() ?? '' }),
          roles: 'convert',
          config: { namespace },
        });
      }
      await isServed('v1');
      await waitFor('policies of bases to be served', () =>
        cluster.request('GET', plainPath('BaseImagePolicy', 'default')).then(() => true),
      );
      if (!hasPassword()) return;
      await waitFor('the password', () => ranJobs().length > 0);
      assert.deepEqual(ranJobs(), [[jobOf(version), 0, `Secret ${namespace}/image-watcher-redis: created\n`]]);
      firstPassword = await password();
    });

    it('has a configuration that the program starts with, and accepts additional settings of the user', () => {
      const maps = Object.fromEntries(
        objects.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata, data }) => [metadata.name, data as Record<string, string>]),
      );
      const pods = podTemplatesOf(objects).filter(({ spec }) => spec.containers[0]?.args?.[0] === 'serve');
      assert.ok(pods.length > 0);
      for (const pod of pods) {
        assert.equal(pod.spec.containers[0]?.args?.at(-1), '/etc/image-watcher');
        const receives = pod.labels['image-watcher/receive'] === 'true';
        const load = (more: Record<string, Record<string, string>>) =>
          loadSettings({ file: mountConfig(pod, { ...maps, ...more }), env: receives ? { HARBOR_SECRET: 'x'.repeat(32) } : {} }).config;
        assert.deepEqual([load({}).receivers, load({}).namespace], [[], namespace]);
        const { receivers, registries, redis } = load({ 'image-watcher-settings': ownSettings });
        assert.deepEqual([receivers.length, registries.length], [receives ? 1 : 0, 1]);
        assert.equal(redis.url.includes('image-watcher-redis'), hasPassword() && pod.name !== 'image-watcher-convert');
      }
    });

    if (!isNamespaced)
      it('configures the conversion webhook with its CA once it answers', async () => {
        await waitFor('the Job', () => ranJobs('definition').length > 0);
        const [[name, code, output] = []] = ranJobs('definition');
        assert.deepEqual([name, code], [jobOf(version, 'definition'), 0]);
        assert.match(String(output), /imagepolicies\.operator\.technomad\.dev created/);
        assert.ok((await definition()).spec.conversion.webhook.clientConfig.caBundle);
      });

    it('changes nothing when it is applied again', async () => {
      const earlier = await versionsOf(objects);
      await apply(objects);
      assert.deepEqual(await versionsOf(objects), earlier);
      if (hasPassword()) assert.deepEqual([await password(), ranJobs().length], [firstPassword, 1]);
    });

    it('is upgraded by applying a later version, and keeps its password', async () => {
      const laterObjects = parse(
        JSON.stringify(objects)
          .replaceAll(version, laterVersion)
          .replaceAll(jobOf(version), jobOf(laterVersion))
          .replaceAll(jobOf(version, 'definition'), jobOf(laterVersion, 'definition')),
      ) as Manifest[];
      const { clientConfig } = (await definition()).spec.conversion.webhook ?? {};
      await apply(laterObjects);
      for (const deployment of laterObjects.filter(({ kind }) => kind === 'Deployment'))
        assert.ok(JSON.stringify((await cluster.request('GET', pathOf(deployment))).spec).includes(`image-watcher:${laterVersion}`));
      if (!isNamespaced) await waitFor('the second Job of the definition', () => ranJobs('definition').length > 1);
      assert.deepEqual((await definition()).spec.conversion.webhook?.clientConfig, clientConfig);
      if (!hasPassword()) return;
      await waitFor('the second Job', () => ranJobs().length > 1);
      const [, second] = ranJobs();
      assert.deepEqual(second, [jobOf(laterVersion), 0, `Secret ${namespace}/image-watcher-redis: unchanged\n`]);
      assert.equal(await password(), firstPassword);
    });

    it(isNamespaced ? 'does not serve v1alpha1' : 'accepts the example of v1alpha1', async () => {
      const sample = parse(readFileSync(join(root, 'crd/samples/v1alpha1.yaml'), 'utf8')) as Manifest;
      const post = () =>
        cluster.request('POST', policiesPath('default', 'v1alpha1'), { ...sample, metadata: { name: sample.metadata.name } });
      if (isNamespaced) return assert.rejects(post(), /404/);
      assert.ok(converting);
      // Here no Service leads to the webhook.
      const { webhook } = (await definition()).spec.conversion;
      const { caBundle } = webhook.clientConfig;
      const conversion = { strategy: 'Webhook', webhook: { clientConfig: { url: converting.conversionUrl, caBundle, service: null } } };
      await cluster.request('PATCH', crdPath, { spec: { conversion } });
      await waitFor('the conversion', () => post());
      const asV1 = await cluster.request('GET', `${policiesPath('default', 'v1')}/${sample.metadata.name}`);
      assert.ok(asV1.spec.image && asV1.spec.targets.length === 1);
    });

    if (!isNamespaced) return;
    it('grants the service only the permissions that it needs in the namespaces it watches', async () => {
      assert.deepEqual(
        objects.filter(({ kind }) => kind.startsWith('ClusterRole')),
        [],
      );
      const mayList = async (where: string, resource: string, group = '') => {
        const spec = {
          user: `system:serviceaccount:${namespace}:image-watcher-work`,
          resourceAttributes: { namespace: where, verb: 'list', group, resource },
        };
        const review = await cluster.request('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec });
        return review.status.allowed as boolean;
      };
      assert.equal(await mayList('default', 'imagepolicies', 'operator.technomad.dev'), true);
      assert.equal(await mayList('kube-system', 'imagepolicies', 'operator.technomad.dev'), false);
      assert.equal(await mayList(namespace, 'secrets'), false);
    });
  });
}
