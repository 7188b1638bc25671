/** What a node would do with pods, where there are controllers but no nodes: it pulls the image, and the pod runs or crashes. */
import { repeat, type Repetition } from '../../src/core/async/repeat.ts';
import type { ControlPlane } from '../harness/control-plane.ts';

interface Pod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly containers: readonly { readonly name: string; readonly image: string }[] };
  readonly status?: { readonly containerStatuses?: readonly unknown[] };
}

/** The content of an image that ends as soon as it is started. */
export const crashing = 'exit 1';

const longAgo = '2026-01-01T00:00:00Z';

/** What differs between images. */
interface Node {
  readonly crashes: (image: string) => Promise<boolean>;
  /** The `imageID` of containers that start now. */
  readonly imageIdOf: (image: string) => Promise<string>;
}

/** Runs the pods of a namespace until it is stopped: their images are pulled from a registry over plain http. */
export function runPods(
  cluster: ControlPlane,
  namespace: string,
  { crashes = hasCrashingContent, imageIdOf = () => Promise.resolve('') }: Partial<Node> = {},
): Repetition {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const start = async ({ metadata, spec }: Pod) => {
    const crashed = await Promise.all(spec.containers.map(({ image }) => crashes(image)));
    const isReady = !crashed.includes(true);
    const statusOf = async ({ name, image }: Pod['spec']['containers'][number]) => {
      return { name, image, imageID: await imageIdOf(image), ready: isReady, ...stateOf(isReady) };
    };
    const containerStatuses = await Promise.all(spec.containers.map(statusOf));
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: longAgo }];
    const status = { phase: isReady ? 'Running' : 'Pending', startTime: longAgo, conditions, containerStatuses };
    await cluster.request('PATCH', `${path}/${metadata.name}/status`, { status });
  };
  return repeat(
    async () => {
      const { items } = await cluster.request<{ items: Pod[] }>('GET', path);
      await Promise.all(items.filter(({ status }) => status?.containerStatuses === undefined).map(start));
    },
    // Whatever fails (a pod that is deleted meanwhile) is tried again.
    { everyMs: 200, backoffMs: () => 200, onProblem: () => undefined },
  );
}

function stateOf(isReady: boolean) {
  if (isReady) return { restartCount: 0, state: { running: { startedAt: longAgo } } };
  return {
    restartCount: 4,
    state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 1m20s restarting failed container' } },
    lastState: { terminated: { reason: 'Error', exitCode: 1, startedAt: longAgo, finishedAt: longAgo } },
  };
}

/** Whether the image, which `pushImage` made, ends as soon as it is started. */
async function hasCrashingContent(image: string): Promise<boolean> {
  const { layers } = await readManifest(image);
  return (await (await read(image, () => `blobs/${layers[0]?.digest}`)).text()) === crashing;
}

/** The configuration of an image of one platform. */
export async function readConfig(image: string): Promise<{ readonly config?: { readonly Env?: readonly string[] } }> {
  const { config } = await readManifest(image);
  return (await (await read(image, () => `blobs/${config.digest}`)).json()) as { config?: { Env?: string[] } };
}

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string }[];
}

async function readManifest(image: string): Promise<Manifest> {
  return (await (await read(image, (reference) => `manifests/${reference}`)).json()) as Manifest;
}

/** Asks for something of an image: by its digest where it is named with one, else by its tag. */
function read(image: string, pathOf: (reference: string) => string): Promise<Response> {
  const [, host = '', repository = '', tag = '', digest] = /^([^/]+)\/([^:@]+)(?::([\w.-]+))?(?:@(sha256:[0-9a-f]+))?$/.exec(image) ?? [];
  const accept = 'application/vnd.oci.image.manifest.v1+json';
  return fetch(`http://${host}/v2/${repository}/${pathOf(digest ?? tag)}`, { headers: { accept } });
}
