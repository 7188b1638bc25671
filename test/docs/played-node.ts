/** What nodes do with the pods of an installation, where there are controllers but no nodes: our containers are processes of this machine. */
import { parse } from 'yaml';
import { repeat } from '../../src/core/async/repeat.ts';
import { runCommand } from '../cli/run-command.ts';
import type { ControlPlane } from '../harness/control-plane.ts';
import { kubeconfigOf } from '../harness/service-account.ts';
import { startService, type Service } from '../harness/service.ts';
import { waitFor } from '../harness/wait-for.ts';

interface ConfigSource {
  readonly name: string;
  readonly items?: readonly { readonly key: string; readonly path: string }[];
}

interface Pod {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly serviceAccountName?: string;
    readonly automountServiceAccountToken?: boolean;
    readonly containers: readonly {
      readonly name: string;
      readonly image: string;
      readonly args?: readonly string[];
      readonly envFrom?: readonly { readonly secretRef: { readonly name: string; readonly optional?: boolean } }[];
    }[];
    readonly volumes?: readonly {
      readonly configMap?: ConfigSource;
      readonly projected?: { readonly sources: readonly { readonly configMap?: ConfigSource }[] };
    }[];
  };
  readonly status: { readonly phase?: string; readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export type PlayedNode = ReturnType<typeof playNode>;

/**
 * Runs the pods of a namespace until it is stopped. Pods with the same template and arguments share a process, which is Ready when it says so itself. Redis is
 * that of `redisUrl`, and `config` replaces settings.
 */
export function playNode(
  cluster: ControlPlane,
  { namespace, redisUrl, config }: { namespace: string; redisUrl: string; config: Readonly<Record<string, unknown>> },
) {
  const path = `/api/v1/namespaces/${namespace}`;
  const services = new Map<string, Promise<Service>>();
  const ended = new Set<string>();
  const problems: string[] = [];

  /** What the container would read from its volumes, without what is true of its node only. */
  const settingsOf = async ({ volumes = [] }: Pod['spec'], file: string): Promise<Record<string, unknown>> => {
    const sources = volumes.flatMap(({ configMap, projected }) => [configMap, ...(projected?.sources ?? []).map((one) => one.configMap)]);
    const files = await Promise.all(
      sources
        .filter((source) => source !== undefined)
        .map(async ({ name, items }) => {
          const { data } = await cluster
            .request<{ data: Record<string, string> }>('GET', `${path}/configmaps/${name}`)
            .catch((): { data: Record<string, string> } => ({ data: {} }));
          const named = items === undefined ? Object.keys(data).filter((key) => file.endsWith(`/${key}`)) : items.map(({ key }) => key);
          return named.map((key) => parse(data[key] ?? '') as Record<string, unknown> | null);
        }),
    );
    const { listen: _listen, operations: _operations, redis: _redis, ...rest } = Object.assign({}, ...files.flat());
    return rest;
  };
  const start = async ({ spec }: Pod): Promise<Service> => {
    const [, , roles = '', , file = ''] = spec.containers[0]?.args ?? [];
    const secrets = (spec.containers[0]?.envFrom ?? []).map(({ secretRef: { name, optional = false } }) => {
      const reading = cluster.request<{ data: Record<string, string> }>('GET', `${path}/secrets/${name}`);
      return optional ? reading.catch(() => ({ data: {} })) : reading;
    });
    const env = (await Promise.all(secrets)).flatMap(({ data }) =>
      Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]),
    );
    const account = { namespace, name: spec.serviceAccountName ?? 'default' };
    return startService({
      redisUrl,
      kubeconfig: spec.automountServiceAccountToken === true ? await kubeconfigOf(cluster, account) : '/nonexistent',
      roles,
      config: { ...(await settingsOf(spec, file)), ...config },
      env: Object.fromEntries(env) as Record<string, string>,
      untilReady: false,
    });
  };
  /** The process of a role, as soon as a pod of it has one. */
  const serviceOf = (role: string) =>
    waitFor(`a pod of the role ${role}`, () => [...services].findLast(([key]) => key.includes(role))?.[1]);

  const report = (pod: Pod, isReady: boolean, phase = 'Running') =>
    cluster.request('PATCH', `${path}/pods/${pod.metadata.name}/status`, {
      status: {
        phase,
        conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: new Date().toISOString() }],
      },
    });
  /** A Job: no Service leads anywhere here, so that the conversion webhook is named by its URL. */
  const runJob = async (pod: Pod) => {
    if (ended.has(pod.metadata.name)) return;
    const args = await Promise.all(
      (pod.spec.containers[0]?.args ?? []).map(async (arg) => {
        if (arg === '--conversion-service') return ['--conversion-url', (await serviceOf('convert')).conversionUrl, '--ca-secret'];
        return [arg];
      }),
    );
    const [command = '', ...rest] = args.flat();
    const kubeconfig = await kubeconfigOf(cluster, { namespace, name: pod.spec.serviceAccountName ?? 'default' });
    const { code, err } = await runCommand(command, [...rest, '--kubeconfig', kubeconfig]);
    if (code !== 0) problems.push(`${pod.metadata.name}: ${err}`);
    ended.add(pod.metadata.name);
    await report(pod, false, code === 0 ? 'Succeeded' : 'Failed');
  };
  const keyOf = ({ metadata, spec }: Pod) => [metadata.labels?.['pod-template-hash'], ...(spec.containers[0]?.args ?? [])].join(' ');
  const play = async (pod: Pod) => {
    const [command] = pod.spec.containers[0]?.args ?? [];
    if (pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true) return;
    if (command === 'crd' || command === 'generate-password') return runJob(pod);
    if (command === 'serve') {
      const started = services.get(keyOf(pod)) ?? start(pod);
      services.set(keyOf(pod), started);
      const { operationsUrl } = await started.catch((error: unknown) => {
        // What it needs may be created later.
        services.delete(keyOf(pod));
        throw error;
      });
      if (!(await fetch(`${operationsUrl}/readyz`)).ok) return undefined;
    }
    return report(pod, true);
  };
  const playing = new Map<string, Promise<void>>();
  const loop = repeat(
    async () => {
      const { items } = await cluster.request<{ items: Pod[] }>('GET', `${path}/pods`);
      for (const pod of items) {
        const { name } = pod.metadata;
        if (playing.has(name) || pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed') continue;
        // One that waits holds up no other one; whatever fails is tried again.
        const played = play(pod).then(
          () => void playing.delete(name),
          () => void playing.delete(name),
        );
        playing.set(name, played);
      }
      const used = new Set(items.map(keyOf));
      const left = [...services].filter(([key]) => !used.has(key));
      for (const [key] of left) services.delete(key);
      await Promise.all(left.map(async ([, service]) => (await service).stop()));
    },
    { everyMs: 200, backoffMs: () => 200, onProblem: () => undefined },
  );
  return {
    serviceOf,
    /** What Jobs have failed with. */
    problems,
    async stop() {
      await loop.stop();
      const started = await Promise.allSettled(services.values());
      await Promise.all(started.flatMap((one) => (one.status === 'fulfilled' ? [one.value.stop()] : [])));
    },
  };
}
