/** What each Deployment ran and what each policy said of it, in the order and by the clock of the API server; and whether a follower ran only what was proven. */
import { parseLastUpdate, updateAnnotation } from '../../src/core/model/last-update-annotation.ts';
import type { PolicyStatus } from '../../src/core/model/policy-status.ts';
import { watchObjects } from '../harness/watch-objects.ts';
import type { World } from './world.ts';

/** A Deployment between two writes of it. Times are in whole seconds, as the API server has them, in milliseconds. */
export interface State {
  /** The revision of the store: later for a later write, also of another object. */
  readonly revision: number;
  readonly at: number;
  readonly image: string;
  readonly digest: string;
  /** All pods are of the newest revision and available. */
  readonly isHealthy: boolean;
  /** What the last change of the image was, by the record on the Deployment. */
  readonly trigger: string | undefined;
}

/** What the status of a policy says that its targets run, complete and available. */
export interface Claim {
  readonly revision: number;
  readonly digest: string;
  readonly since: number;
}

/** What a follower waits for: the Deployments of the policies that it follows, and the time. */
export interface Follower {
  readonly follows: readonly string[];
  readonly forMs: number;
}

interface Raw {
  readonly metadata: {
    readonly name: string;
    readonly generation: number;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly managedFields?: readonly { readonly time?: string }[];
  };
}

interface RawDeployment extends Raw {
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
  readonly status?: Readonly<Partial<Record<'observedGeneration' | 'replicas' | 'updatedReplicas' | 'availableReplicas', number>>>;
}

export type EnvironmentLog = Awaited<ReturnType<typeof followEnvironments>>;

/** Follows all Deployments and policies of the world from now on. */
export async function followEnvironments({ cluster, namespace }: World) {
  const states = new Map<string, State[]>();
  const claims = new Map<string, Claim[]>();
  const noteState = (raw: RawDeployment) => void listOf(states, raw.metadata.name).push(stateOf(raw));
  const noteClaim = ({ metadata, status }: Raw & { readonly status?: PolicyStatus }) => {
    const { digest, since } = status?.healthy ?? {};
    if (digest === undefined || since === undefined) return;
    listOf(claims, metadata.name).push({ revision: Number(metadata.resourceVersion), digest, since: Date.parse(since) });
  };
  const deployments = await watchObjects(cluster, `/apis/apps/v1/namespaces/${namespace}/deployments`, noteState);
  const policies = await watchObjects(cluster, `/apis/operator.technomad.dev/v1/namespaces/${namespace}/imagepolicies`, noteClaim);
  deployments.items.forEach(noteState);
  policies.items.forEach(noteClaim);
  return {
    statesOf: (name: string): readonly State[] => states.get(name) ?? [],
    claimsOf: (name: string): readonly Claim[] => claims.get(name) ?? [],
    /** What it is now. */
    now: (name: string): State | undefined => states.get(name)?.at(-1),
    /** The latest revision that has been seen of a Deployment: all before it have been seen as well. */
    seenUntil: () => Math.max(...[...states.values()].map((list) => list.at(-1)?.revision ?? 0)),
    error: () => deployments.error ?? policies.error,
    stop() {
      deployments.stop();
      policies.stop();
    },
  };
}

function listOf<T>(lists: Map<string, T[]>, name: string): T[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}

function stateOf({ metadata, spec, status = {} }: RawDeployment): State {
  const image = spec.template.spec.containers[0]?.image ?? '';
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const isNewest = observedGeneration >= metadata.generation && replicas === spec.replicas && updatedReplicas === spec.replicas;
  const record = parseLastUpdate(metadata.annotations?.[updateAnnotation('c0') ?? '']);
  return {
    revision: Number(metadata.resourceVersion),
    at: Math.max(...(metadata.managedFields ?? []).map(({ time = '' }) => Date.parse(time))),
    image,
    digest: image.split('@')[1] ?? '',
    isHealthy: isNewest && availableReplicas >= spec.replicas,
    trigger: record?.trigger,
  };
}

/** The states that begin with another image than the one before. */
export function changesIn(states: readonly State[]): { readonly from: State; readonly to: State }[] {
  return states.flatMap((to, index) => {
    const from = states[index - 1];
    return from !== undefined && from.digest !== to.digest ? [{ from, to }] : [];
  });
}

/** The digests that were rolled back, with the state in which they were gone. */
export function rollbacksIn(states: readonly State[]): { readonly digest: string; readonly gone: State }[] {
  return changesIn(states).flatMap(({ from, to }) => (to.trigger === 'Rollback' ? [{ digest: from.digest, gone: to }] : []));
}

/** How long a read of the followed policies counts (3 s), and what a request may take on its way to the API server. */
const underWayMs = 10_000;

/**
 * Why a change of a follower was not proven by one of its followed Deployments; undefined if it was: it held the digest complete and available, without an interruption
 * and for the whole time, until right before the change. Times are rounded down to seconds on both sides: less than a second too little is not noticed, and nothing is found that is none.
 */
export function whyUnproven({ digest, revision, at }: State, followed: readonly State[], forMs: number): string | undefined {
  const before = followed.filter((state) => state.revision < revision);
  const stretches: { readonly since: number; readonly until: number }[] = [];
  let since: number | undefined;
  for (const [index, state] of before.entries()) {
    if (!state.isHealthy || state.digest !== digest) since = undefined;
    else {
      since ??= state.at;
      stretches.push({ since, until: before[index + 1]?.at ?? at });
    }
  }
  if (stretches.some((one) => one.until - one.since >= forMs && at - one.until <= underWayMs)) return undefined;
  const held = stretches.map((one) => `${one.until - one.since} ms until ${at - one.until} ms before`);
  return held.length === 0 ? 'which it has never held' : `which it has held for ${held.slice(-3).join(', ')}`;
}

/** Why a status that tells of an image is wrong; undefined if it is right: the Deployment ran it, complete and available, at the time that it says. */
export function whyWrong({ digest, since, revision }: Claim, states: readonly State[]): string | undefined {
  const before = states.filter((state) => state.revision < revision);
  const isRight = before.some((state, index) => {
    // The end of the second in which it began is said.
    const end = before[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    return state.isHealthy && state.digest === digest && state.at <= since && end >= since - 1_000;
  });
  return isRight ? undefined : `says ${digest} since ${new Date(since).toISOString()}`;
}
