import { readPolicy } from '../resources/read-policy.ts';
import type { ReadContext } from '../resources/read-spec.ts';
import { describeError } from '../../core/model/errors.ts';
import { kindKey } from '../../core/model/workload.ts';
import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { readMetadata } from '../kube/watch-events.ts';
import type { Reflector, ReflectorOptions } from '../kube/reflector.ts';
import { listPath } from '../kube/objects.ts';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import { startSettlingWatch } from './optional-watch.ts';
import type { Check } from '../telemetry/readiness.ts';
import type { ClusterCache } from './cluster-cache.ts';
import { policyResource } from '../resources/group.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface NamedReflector {
  readonly name: string;
  readonly reflector: Reflector;
}

/** The watch of the policies of one namespace, or of all. */
export interface PolicyWatch extends NamedReflector {
  /** The namespace that is watched; undefined for all. */
  readonly namespace: string | undefined;
  /** Resolves after the first list, or when the list is forbidden, because other namespaces must not wait for it. */
  readonly synced: Promise<void>;
}

/** The namespaces to watch, given those of the setting. An empty setting means all namespaces (undefined). */
export function watchedNamespaces(namespaces: readonly string[]): readonly (string | undefined)[] {
  return namespaces.length > 0 ? namespaces : [undefined];
}

/** Creates a callback that logs failures of watches. */
export function logWatchErrors(logger: Logger) {
  return (error: unknown, nextTryMs: number | undefined) =>
    logger.warn({ why: describeError(error), nextTryMs }, 'watch failed, will be repeated');
}

/** Watches the policies, in one namespace or (undefined) in all. */
export function watchPolicies(
  namespace: string | undefined,
  { readContext, logger }: { readonly readContext: ReadContext; readonly logger: Logger },
  client: KubeClient,
  { written }: ClusterCache,
): PolicyWatch {
  const options: ReflectorOptions<ImagePolicy> = {
    client,
    path: listPath(policyResource, namespace),
    project(raw) {
      const { namespace, name } = readMetadata(raw);
      return readPolicy(raw, readContext, written.get(namespace, name));
    },
    store: written,
    onError: logWatchErrors(logger),
  };
  const { reflector, settled: synced } = startSettlingWatch(options, (error) => isKubeError(error, 403));
  return {
    name: `policies${namespace === undefined ? '' : ` in ${namespace}`}`,
    namespace,
    reflector,
    synced,
  };
}

/** Resolves when the policies of all permitted namespaces are listed, and at least one list has succeeded. */
export async function untilSynced(watches: readonly PolicyWatch[]): Promise<void> {
  await Promise.all([Promise.race(watches.map(({ reflector }) => reflector.synced)), ...watches.map(({ synced }) => synced)]);
}

/** Whether the watches of all permitted namespaces are connected. A forbidden namespace must not affect the others. */
export function areConnected(watches: readonly PolicyWatch[]): boolean {
  const states = watches.map(({ reflector }) => reflector.state());
  return states.some(({ connected }) => connected) && states.every(({ connected, isForbidden }) => connected || isForbidden);
}

/** Whether the policies of all permitted namespaces have been listed, at least once. */
export function areListed(watches: readonly PolicyWatch[]): boolean {
  const states = watches.map(({ reflector }) => reflector.state());
  return states.some(({ synced }) => synced) && states.every(({ synced, isForbidden }) => synced || isForbidden);
}

/** The time of which the policies are, in ms since 1970: when a watch that failed last had news. undefined while none fails. A watch that ends in time is opened again without a failure. */
export function staleSince(watches: readonly PolicyWatch[], now: number): number | undefined {
  const failing = watches
    .map(({ reflector }) => reflector.state())
    .filter(({ connected, lastError, isForbidden }) => !connected && lastError !== undefined && !isForbidden);
  return failing.length === 0 ? undefined : now - Math.max(...failing.map(({ quietMs = 0 }) => quietMs));
}

/** The watches of workloads that have started. */
export function workloadReflectors({ workloads }: ClusterCache): NamedReflector[] {
  return workloads.watches().flatMap((watch) => {
    const watched = watch.current();
    return (watched?.reflectors ?? []).map((reflector, index) => {
      const { namespace, name } = watched?.scopes[index] ?? {};
      const what = [watched?.target.resource, name].filter(Boolean).join(' ');
      return { name: `${what}${namespace === undefined ? '' : ` in ${namespace}`}`, reflector };
    });
  });
}

/** The check of a reflector for /readyz. It is reported, but is never a reason to be not ready. */
export function checkReflector({ name, reflector }: NamedReflector): Check {
  const { synced, connected, lastError, objects, quietMs = 0 } = reflector.state();
  const detail = lastError ?? (synced ? `${objects} objects, quiet for ${Math.floor(quietMs / 1_000)} s` : 'listing');
  return { name: `kubernetes ${name}`, ok: synced && connected, required: false, detail };
}

/** The checks for /readyz of kinds that the API server does not know. */
export function checkKinds({ workloads }: ClusterCache): Check[] {
  const missing = workloads.watches().filter((watch) => watch.current() === undefined);
  return missing.map(({ kind }) => ({
    name: `kubernetes ${kindKey(kind)}`,
    ok: false,
    required: false,
    detail: 'not discovered: the API server does not serve this kind, or has not answered yet',
  }));
}
