/** Whoever takes over the process that the internet reaches has nothing of the cluster in his hands: who is who in what the chart makes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacksHelm } from '../harness/binaries.ts';
import { renderChart, type Manifest, type Values } from '../harness/helm.ts';
import { podTemplatesOf, type PodTemplate } from './manifests.ts';

const skip = (await lacksHelm()) ?? false;
const values: Values = { ingress: { enabled: true, host: 'hooks.example.com' }, envFrom: [{ secretRef: { name: 'receivers' } }] };

type Labels = Readonly<Record<string, string>>;
const isSelected = (labels: Labels, selector: Labels) => Object.entries(selector).every(([name, value]) => labels[name] === value);

/** The pods that a Service leads to. */
function podsBehind(objects: readonly Manifest[], service: string): PodTemplate[] {
  const { spec } = objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === service) as unknown as {
    spec: { selector: Labels };
  };
  return podTemplatesOf(objects).filter(({ labels }) => isSelected(labels, spec.selector));
}

const rolesOf = ({ spec }: PodTemplate) => spec.containers[0]?.args?.[2];

test('by default the pods behind the Ingress only receive, and have no credentials of the cluster', { skip }, async () => {
  const objects = await renderChart(values);
  const pods = podsBehind(objects, 'image-watcher');
  assert.deepEqual(pods.map(rolesOf), ['receive']);
  for (const { spec } of pods) {
    assert.equal(spec.automountServiceAccountToken, false);
    // Nor by another way: a projected token.
    assert.doesNotMatch(JSON.stringify(spec), /serviceAccountToken":\{/);
    const account = objects.find(({ kind, metadata }) => kind === 'ServiceAccount' && metadata.name === spec.serviceAccountName);
    assert.equal(account?.['automountServiceAccountToken'], false);
    const isBound = ({ subjects }: Manifest) => (subjects as { name: string }[]).some(({ name }) => name === spec.serviceAccountName);
    assert.deepEqual(
      objects.filter((object) => object.kind.endsWith('Binding') && Array.isArray(object['subjects']) && isBound(object)),
      [],
    );
  }
});

test('by default the API server sends conversions to other pods than those that the internet reaches', { skip }, async () => {
  const objects = await renderChart(values);
  assert.deepEqual(podsBehind(objects, 'image-watcher-conversion').map(rolesOf), ['convert']);
});

test('a conversion pod whose certificates come from cert-manager has no token of a service account', { skip }, async () => {
  const conversion = { certificates: 'cert-manager', issuerRef: { name: 'internal' } };
  const [pod] = podsBehind(await renderChart({ conversion }), 'image-watcher-conversion');
  assert.equal(pod?.spec.automountServiceAccountToken, false);
});

test('every role except convert gets the settings of the proxy and the Secret with its password', { skip }, async () => {
  const objects = await renderChart({
    ...values,
    web: { enabled: true },
    proxy: { secretName: 'proxy', noProxy: ['.example.com', '10.0.0.0/8'] },
  });
  const given = podTemplatesOf(objects)
    .filter((pod) => Array.isArray(pod.spec.containers[0]?.args) && pod.spec.containers[0].args[0] === 'serve')
    .map((pod) => [rolesOf(pod), JSON.stringify(pod.spec.containers[0])] as const);
  assert.deepEqual(new Set(given.map(([roles]) => roles)), new Set(['convert', 'receive', 'web', 'work']));
  for (const [roles, container] of given) {
    const isGiven = roles !== 'convert';
    assert.equal(container.includes('{"secretRef":{"name":"proxy"}}'), isGiven, roles);
    assert.equal(container.includes('{"name":"NO_PROXY","value":".svc,.cluster.local,.example.com,10.0.0.0/8"}'), isGiven, roles);
    assert.equal(container.includes('{"secretRef":{"name":"receivers"}}'), roles === 'receive', roles);
  }
});

test('only workers get the volume, the key and the configuration of the record of activity', { skip }, async () => {
  const kept: Values = {
    ...values,
    web: { enabled: true },
    config: { record: { folder: '/var/lib/image-watcher/record' } },
    recordVolume: { persistentVolumeClaim: { claimName: 'record' } },
    recordEnvFrom: [{ secretRef: { name: 'record-key' } }],
  };
  for (const mode of ['separate', 'together']) {
    const objects = await renderChart({ ...kept, mode });
    const config = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'image-watcher') as unknown as {
      data: Record<string, string>;
    };
    const pods = podTemplatesOf(objects).filter((pod) => pod.spec.containers[0]?.args?.[0] === 'serve');
    assert.ok(pods.length > 0);
    for (const pod of pods) {
      const roles = rolesOf(pod)?.split(',') ?? [];
      const text = JSON.stringify(pod.spec);
      const file = pod.spec.containers[0]?.args?.[4]?.split('/').at(-1) ?? '';
      // A process without its file would not start.
      assert.ok(file in config.data, `${mode} ${roles.join()} ${file}`);
      for (const found of [
        text.includes('{"name":"record","persistentVolumeClaim":{"claimName":"record"}}'),
        text.includes('{"mountPath":"/var/lib/image-watcher/record","name":"record"}') ||
          text.includes('{"name":"record","mountPath":"/var/lib/image-watcher/record"}'),
        text.includes('{"secretRef":{"name":"record-key"}}'),
        config.data[file]?.includes('/var/lib/image-watcher/record') === true,
      ])
        assert.equal(found, roles.includes('work'), `${mode} ${roles.join()} ${file}`);
    }
  }
});

interface NetworkPolicySpec {
  readonly podSelector: { readonly matchLabels: Labels };
  readonly policyTypes: readonly string[];
  readonly ingress: readonly {
    readonly ports: readonly { port: string }[];
    readonly from?: readonly { podSelector: { matchLabels: Labels } }[];
  }[];
  readonly egress?: readonly { readonly ports?: readonly { port: string | number }[]; readonly to?: readonly object[] }[];
}

const networkPoliciesOf = (objects: readonly Manifest[], { labels }: PodTemplate) =>
  objects
    .filter(({ kind }) => kind === 'NetworkPolicy')
    .map(({ spec }) => spec as NetworkPolicySpec)
    .filter(({ podSelector }) => isSelected(labels, podSelector.matchLabels));

test('each pod is reachable only at its own ports, and Redis only from its clients', { skip }, async () => {
  const objects = await renderChart(values);
  const pods = podTemplatesOf(objects);
  const portsOf = (pod: PodTemplate) =>
    networkPoliciesOf(objects, pod)
      .flatMap(({ ingress }) => ingress.flatMap(({ ports }) => ports.map(({ port }) => port)))
      .sort();
  const serving = pods.filter((pod) => pod.spec.containers[0]?.args?.[0] === 'serve');
  assert.deepEqual(
    serving.map((pod) => [rolesOf(pod), portsOf(pod)]),
    [
      ['receive', ['operations', 'webhooks']],
      ['work', ['operations']],
      ['convert', ['conversion', 'operations']],
    ],
  );
  const redis = pods.find(({ name }) => name === 'image-watcher-redis');
  assert.ok(redis);
  const [policy] = networkPoliciesOf(objects, redis);
  const peers = policy?.ingress.flatMap(({ from = [] }) => from.map(({ podSelector }) => podSelector.matchLabels)) ?? [];
  const allowed = pods.filter(({ labels }) => peers.some((peer) => isSelected(labels, peer)));
  assert.deepEqual(allowed.map(({ name }) => name).sort(), ['image-watcher-receive', 'image-watcher-work']);
});

test('receivers can connect only to DNS and Redis, where the user enables that', { skip }, async () => {
  const to = [{ ipBlock: { cidr: '203.0.113.0/24' } }];
  const policyOf = async (receiveEgress?: readonly object[]) => {
    const objects = await renderChart({ ...values, ...(receiveEgress && { networkPolicy: { receiveEgress } }) });
    const [pod] = podsBehind(objects, 'image-watcher');
    assert.ok(pod);
    return networkPoliciesOf(objects, pod)[0];
  };
  assert.deepEqual((await policyOf())?.policyTypes, ['Ingress']);
  const { policyTypes, egress } = (await policyOf([{ to }])) ?? {};
  assert.deepEqual(policyTypes, ['Ingress', 'Egress']);
  assert.deepEqual(
    egress?.map(({ ports }) => ports?.map(({ port }) => port)),
    [[53, 53], [6_379], undefined],
  );
  assert.deepEqual(egress?.[2]?.to, to);
  assert.equal((await policyOf([]))?.egress?.length, 2);
});

test(
  'the dashboard has neither credentials of the cluster nor a way to Redis, and reaches the API where that is restricted',
  { skip },
  async () => {
    const operationsFrom = [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }];
    const objects = await renderChart({ ...values, web: { enabled: true }, networkPolicy: { operationsFrom } });
    const [pod, ...others] = podsBehind(objects, 'image-watcher-web');
    assert.ok(pod);
    assert.deepEqual([rolesOf(pod), others], ['web', []]);
    assert.equal(pod.spec.automountServiceAccountToken, false);
    assert.doesNotMatch(JSON.stringify(pod.spec), /redis|envFrom/);
    const admits = (target: PodTemplate | undefined) =>
      (target === undefined ? [] : networkPoliciesOf(objects, target))
        .flatMap(({ ingress }) => ingress.flatMap(({ from = [] }) => from))
        .some(
          ({ podSelector }) =>
            (podSelector as { matchLabels: Labels } | undefined) !== undefined && isSelected(pod.labels, podSelector.matchLabels),
        );
    assert.ok(admits(podsBehind(objects, 'image-watcher-operations')[0]));
    assert.ok(!admits(podTemplatesOf(objects).find(({ labels }) => labels['app.kubernetes.io/component'] === 'redis')));
  },
);
