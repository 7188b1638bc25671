/**
 * Times the conversion of 10,000 policies each way, in one review and in reviews of 500 (the API server lists in such pages), with
 * the JSON of the request and of the answer as on the wire: `node bench/convert.ts [--output json]`.
 */
import { parseArgs } from 'node:util';
import { convertReview } from '../src/conversion/convert-review.ts';

const total = 10_000;
const rounds = 5;
const v1 = 'operator.technomad.dev/v1';
const v1alpha1 = 'operator.technomad.dev/v1alpha1';

interface Result {
  readonly direction: string;
  readonly objectsPerReview: number;
  readonly milliseconds: number;
  readonly objectsPerSecond: number;
  /** Of that, without reading and writing JSON. */
  readonly conversionMilliseconds: number;
  readonly megabytes: number;
}

const at = '2026-11-21T10:00:00Z';
const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;

/** Every field of spec and status, histories full. */
function fullPolicy(index: number) {
  const name = `web-${index}`;
  const workload = { kind: 'Deployment', namespace: 'shop', name, container: 'web' };
  const image = (tag: string) => `harbor.example.com/shop/${name}:${tag}@${digest}`;
  const condition = {
    status: 'True',
    reason: 'UpToDate',
    message: `runs ${image('1.4.2')}`,
    lastTransitionTime: at,
    observedGeneration: 3,
  };
  return {
    apiVersion: v1,
    kind: 'ImagePolicy',
    metadata: {
      name,
      namespace: 'shop',
      uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      resourceVersion: String(index),
      generation: 3,
      creationTimestamp: at,
      labels: { app: name },
      annotations: { 'example.com/team': 'shop' },
      managedFields: [
        { manager: 'kubectl', operation: 'Update', apiVersion: v1, time: at, fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': {} } },
      ],
    },
    spec: {
      image: `harbor.example.com/shop/${name}`,
      select: { semver: { range: '>=1.4 <2', prereleases: false } },
      tags: { allow: '^v(?P<version>.*)-prod$', extract: '$version', ignore: ['-debug$'] },
      platforms: ['linux/amd64', 'linux/arm64'],
      minAge: '30m',
      pullSecrets: [{ name: 'harbor-creds' }],
      targets: [
        { kind: 'Deployment', name, namespace: 'shop', containers: ['web'], initContainers: false },
        { kind: 'StatefulSet', selector: { matchLabels: { uses: name } }, initContainers: false },
        {
          apiVersion: 'helm.toolkit.fluxcd.io/v2',
          kind: 'HelmRelease',
          name,
          initContainers: false,
          fields: { tag: 'spec.values.image.tag' },
        },
      ],
      update: {
        mode: 'Automatic',
        pin: 'Tag',
        allowDowngrade: false,
        windows: [{ days: ['Mon', 'Tue', 'Wed'], from: '09:00', to: '17:00', timeZone: 'Europe/Berlin' }],
      },
      rollout: { watch: true, timeout: '10m', onFailure: 'Rollback' },
      verify: { cosign: { keys: [{ secretRef: { name: 'cosign', key: 'cosign.pub' } }] } },
      poll: { interval: '1h' },
      suspend: false,
    },
    status: {
      observedGeneration: 3,
      conditions: ['Ready', 'Held'].map((type) => ({ type, ...condition })),
      latest: { tag: '1.4.2', digest, selectedAt: at },
      trigger: { source: 'Webhook', receiver: 'harbor-prod', event: digest, receivedAt: at, handledAt: at },
      lastCheckTime: at,
      lastHandledRequest: at,
      targets: Array.from({ length: 5 }, () => ({ ...workload, image: image('1.4.2'), state: 'UpToDate' })),
      targetCounts: { total: 5, upToDate: 5, problems: 0 },
      lastAppliedTag: '1.4.2',
      history: Array.from({ length: 10 }, (_, change) => ({
        ...workload,
        from: image(`1.3.${change}`),
        to: image(`1.4.${change}`),
        tag: `1.4.${change}`,
        digest,
        trigger: 'Webhook',
        at,
        result: 'RolledOut',
      })),
      rejected: [{ digest, tag: '1.4.0', reason: 'RolloutFailed', at }],
    },
  };
}

async function converted(body: unknown): Promise<unknown[]> {
  const { response } = JSON.parse((await convertReview(body)).text) as {
    response: { convertedObjects: unknown[]; result: { status: string } };
  };
  if (response.result.status !== 'Success') throw new Error(JSON.stringify(response.result));
  return response.convertedObjects;
}

async function measure(
  direction: string,
  objects: readonly unknown[],
  desiredAPIVersion: string,
  objectsPerReview: number,
): Promise<Result> {
  const requests: string[] = [];
  for (let start = 0; start < objects.length; start += objectsPerReview) {
    const page = objects.slice(start, start + objectsPerReview);
    const request = { uid: String(start), desiredAPIVersion, objects: page };
    requests.push(JSON.stringify({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request }));
  }
  const runs: Awaited<ReturnType<typeof run>>[] = [];
  for (let round = 0; round < rounds; round++) runs.push(await run(requests));
  runs.sort((a, b) => a.all - b.all);
  const { all, conversion } = runs[Math.floor(rounds / 2)] ?? { all: NaN, conversion: NaN };
  return {
    direction,
    objectsPerReview,
    milliseconds: Math.round(all),
    objectsPerSecond: Math.round((objects.length / all) * 1_000),
    conversionMilliseconds: Math.round(conversion),
    megabytes: Math.round(requests.reduce((sum, text) => sum + text.length, 0) / 1_000_000),
  };
}

async function run(requests: readonly string[]): Promise<{ all: number; conversion: number }> {
  let conversion = 0;
  const start = performance.now();
  for (const text of requests) {
    const body: unknown = JSON.parse(text);
    const before = performance.now();
    const answer = await convertReview(body);
    conversion += performance.now() - before;
    if (answer.text.length < text.length / 10) throw new Error('an answer is missing');
  }
  return { all: performance.now() - start, conversion };
}

const { values } = parseArgs({ options: { output: { type: 'string', default: 'text' } } });
const objects = Array.from({ length: total }, (_, index) => fullPolicy(index));
const review = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  request: { uid: 'u', desiredAPIVersion: v1alpha1, objects },
};
const views = await converted(review);
const old = views.map((view) => {
  const { metadata, status: _, ...rest } = view as { metadata: { annotations: object }; status: unknown };
  return { ...rest, metadata: { ...metadata, annotations: {} } };
});
const results: Result[] = [];
for (const size of [total, 500]) {
  results.push(await measure('v1 → v1alpha1', objects, v1alpha1, size));
  results.push(await measure('v1alpha1 → v1', views, v1, size));
  results.push(await measure('v1alpha1 that never was v1 → v1', old, v1, size));
}
if (values.output === 'json') console.log(JSON.stringify({ objects: total, rounds, results }, undefined, 2));
else console.table(results);
