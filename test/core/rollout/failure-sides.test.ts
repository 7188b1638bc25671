/** Which side each reason speaks against, by what kubelets, runtimes and registries say. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { evidenceOf, type PodState } from '../../../src/core/rollout/evaluate-pods.ts';
import { failureSides, sideOf } from '../../../src/core/rollout/failure-sides.ts';
import { afterChange, changedAt, runningPod, waitingPod } from './rollout-samples.ts';

const ref = 'registry.example.com/shop/web:1.3.0';
const resolving = `failed to pull and unpack image "${ref}": failed to resolve reference "${ref}":`;

const rows: [reason: string, message: string, expected: string][] = [
  ['ImagePullBackOff', `Back-off pulling image "${ref}"`, 'registry'],
  [
    'ImagePullBackOff',
    `Back-off pulling image "${ref}": ErrImagePull: rpc error: code = NotFound desc = ${resolving} ${ref}: not found`,
    'image',
  ],
  ['ErrImagePull', `manifest for ${ref} not found: manifest unknown: manifest unknown`, 'image'],
  ['ErrImagePull', 'no matching manifest for linux/arm64/v8 in the manifest list entries', 'image'],
  ['ErrImagePull', `${resolving} no match for platform in manifest: not found`, 'image'],
  ['ErrImagePull', 'unsupported media type application/vnd.oci.empty.v1+json', 'image'],
  ['ErrImagePull', `${resolving} unexpected status from HEAD request to https://${ref}: 429 Too Many Requests`, 'registry'],
  ['ErrImagePull', 'toomanyrequests: You have reached your unauthenticated pull rate limit.', 'registry'],
  [
    'ImagePullBackOff',
    `${resolving} unexpected status from HEAD request to https://r/v2/shop/web/manifests/1.3.0: 503 Service Unavailable`,
    'registry',
  ],
  ['ErrImagePull', 'received unexpected HTTP status: 502 Bad Gateway', 'registry'],
  ['ErrImagePull', `${resolving} failed to do request: Head "https://r/v2/": dial tcp 10.0.0.1:443: i/o timeout`, 'registry'],
  ['ErrImagePull', `${resolving} failed to do request: Head "https://r/v2/": dial tcp: lookup r: no such host`, 'registry'],
  ['ErrImagePull', 'rpc error: code = DeadlineExceeded desc = context deadline exceeded', 'registry'],
  ['ErrImagePull', 'dial tcp 10.0.0.1:443: connect: connection refused', 'registry'],
  ['ErrImagePull', `${resolving} unexpected status from HEAD request to https://${ref}: 401 Unauthorized`, 'configuration'],
  ['ErrImagePull', `${resolving} pulling from host r failed with status code [manifests 1.3.0]: 403 Forbidden`, 'configuration'],
  [
    'ErrImagePull',
    'pull access denied, repository does not exist or may require authorization: insufficient_scope: authorization failed',
    'configuration',
  ],
  ['ErrImagePull', 'tls: failed to verify certificate: x509: certificate signed by unknown authority', 'configuration'],
  ['ErrImagePull', 'failed to extract layer sha256:429: write /var/lib/x: no space left on device', 'cluster'],
  ['ErrImagePull', 'pull QPS exceeded', 'cluster'],
  ['RegistryUnavailable', 'image pull failed because the registry is unavailable', 'registry'],
  ['SignatureValidationFailed', 'image pull failed because the signature validation failed', 'configuration'],
  ['InvalidImageName', 'couldn\'t parse image name "shop/web:": invalid reference format', 'image'],
  ['ErrImageNeverPull', `Container image "${ref}" is not present with pull policy of Never`, 'configuration'],
  ['CreateContainerConfigError', 'secret "db" not found', 'configuration'],
  ['CreateContainerConfigError', 'container has runAsNonRoot and image will run as root (pod: "web", container: web)', 'image'],
  [
    'CreateContainerConfigError',
    'container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root',
    'image',
  ],
  ['CreateContainerError', 'context deadline exceeded', 'cluster'],
  ['CreateContainerError', 'failed to generate container "web" spec: no command specified', 'image'],
  ['RunContainerError', 'runc create failed: exec: "/web": stat /web: no such file or directory', 'image'],
  ['RunContainerError', 'runc create failed: unable to apply cgroup configuration: no space left on device', 'cluster'],
  ['StartError', 'failed to create shim task: error mounting "/data" to rootfs', 'configuration'],
  ['StartError', 'exec /web: exec format error', 'image'],
  ['FailedCreate', 'pods "web-2-x" is forbidden: exceeded quota: pods', 'cluster'],
  ['FailedCreate', 'admission webhook "images.example.com" denied the request: not signed', 'configuration'],
  ['Unschedulable', '0/3 nodes are available: 3 Insufficient cpu.', 'cluster'],
  ['Evicted', 'The node was low on resource: memory.', 'cluster'],
  ['OOMKilled', '', 'image'],
  ['ANewReason', '', 'cluster'],
];

for (const [reason, message, expected] of rows)
  test(`a failure with the reason ${reason} is blamed on the ${expected}: "${message}"`, () =>
    assert.equal(sideOf(reason, message), expected));

test('docs/rollouts.md lists every reason of a failed rollout', () => {
  const page = readFileSync(new URL('../../../docs/rollouts.md', import.meta.url), 'utf8');
  const missing = Object.keys(failureSides).filter((reason) => !page.includes(`\`${reason}\``));
  assert.deepEqual(missing, []);
});

const web = new Set(['web']);
const pod = (fields: Partial<PodState>): PodState => ({ ...runningPod(), ...fields });
const sidecar = { name: 'proxy', ready: false, restarts: 7, lastEnd: { reason: 'Error', exitCode: 1 } };

const pods: [name: string, pods: PodState[], expected: string][] = [
  ['whose container runs and is not ready', [runningPod()], 'image'],
  ['that is not scheduled', [pod({ trouble: { reason: 'Unschedulable' }, containers: [] })], 'cluster'],
  ['that nobody has looked at', [pod({ containers: [] })], 'cluster'],
  ['that waits for a volume', [waitingPod('ContainerCreating')], 'cluster'],
  ['that was evicted, whatever its container did', [pod({ trouble: { reason: 'Evicted' } })], 'cluster'],
  ['whose other container crashes', [pod({ containers: [{ name: 'web', ready: true, restarts: 0 }, sidecar] })], 'configuration'],
  [
    'whose init container, which was not changed, crashes',
    [{ ...waitingPod('PodInitializing'), containers: [...waitingPod('PodInitializing').containers, sidecar] }],
    'configuration',
  ],
  ['whose containers are ready, and which is not', [pod({ containers: [{ name: 'web', ready: true, restarts: 0 }] })], 'cluster'],
  ['that cannot be pulled, beside one that crashes', [waitingPod('ErrImagePull', { message: '429' }), runningPod()], 'image'],
];

for (const [name, given, expected] of pods)
  test(`a failing pod ${name} is blamed on the ${expected}`, () =>
    assert.equal(evidenceOf(given, web, afterChange(60)).complaint?.against, expected));

test('the crash of a container that its node cannot start is not blamed on the image', () => {
  const lastEnd = { reason: 'StartError', exitCode: 128, message: 'error mounting "/data"' };
  const crashing = { name: 'web', ready: false, restarts: 4, waiting: { reason: 'CrashLoopBackOff' }, lastEnd };
  const { failure } = evidenceOf([pod({ startedAt: changedAt, containers: [crashing] })], web, afterChange(60));
  assert.deepEqual([failure?.reason, failure?.against], ['CrashLoop', 'configuration']);
});
