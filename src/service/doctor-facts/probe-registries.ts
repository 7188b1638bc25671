/** Sends one request to each registry of the policies for each set of credentials. */
import { defined } from '../../core/model/defined.ts';
import { startDeadline } from '../../core/async/deadline.ts';
import { gently, inParallel, inSlices } from '../../core/async/in-parallel.ts';
import type { Clock } from '../doctor/checks/clock.ts';
import type { RegistryFacts, RegistryProbe } from '../doctor/checks/registries.ts';
import { type ImagePolicy, isUsable, policyKey, type PolicySpec } from '../../core/model/image-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { accessKey, type ImageSource } from '../../core/model/image-source.ts';
import { describeError, WaitError } from '../../core/model/errors.ts';
import type { RegistryClient } from '../registry/client.ts';

/** The policies, and the client of their registries. */
export interface RegistryMeans {
  readonly registry: Pick<RegistryClient, 'probe'>;
  readonly policies: () => Iterable<ImagePolicy>;
  readonly sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource;
}

/** A probe with the clock of the registry, if that is known. */
export interface TimedProbe extends RegistryProbe {
  readonly clock?: { readonly aheadMs: number; readonly toleranceMs: number };
}

const maxProbes = 20;
const probesAtOnce = 8;
const probeMs = 4_000;

interface Question {
  readonly policy: ImagePolicy;
  readonly source: ImageSource;
}

/**
 * Sends at most 20 requests: one to each registry before any gets a second, and first to those that most policies use, so that a few policies with odd hosts
 * displace none. A known refusal is not repeated within its pause.
 */
export async function probeRegistries(
  means: RegistryMeans,
  signal: AbortSignal,
): Promise<RegistryFacts & { readonly probes: readonly TimedProbe[] }> {
  const byHost = new Map<string, Map<string, Question>>();
  const uses = new Map<string, number>();
  // Computing the access of ten thousand policies takes a while.
  const visit = (policy: ImagePolicy) => {
    if (!isUsable(policy.spec)) return;
    const source = means.sourceOf(policy, policy.spec);
    const questions = byHost.get(source.registry) ?? new Map<string, Question>();
    byHost.set(source.registry, questions);
    uses.set(source.registry, (uses.get(source.registry) ?? 0) + 1);
    const key = accessKey(source);
    if (!questions.has(key)) questions.set(key, { policy, source });
  };
  await inSlices(means.policies(), signal, visit, gently);
  const usesOf = (host: string) => uses.get(host) ?? 0;
  const hosts = [...byHost].toSorted(([a], [b]) => usesOf(b) - usesOf(a));
  const rounds = hosts.flatMap(([, questions]) => [...questions.values()].map((question, round) => ({ question, round })));
  const ordered = rounds.toSorted((a, b) => a.round - b.round).map(({ question }) => question);
  const asked = ordered.slice(0, maxProbes);
  const answers = await inParallel(asked, probesAtOnce, (question) => probe(question, means.registry, signal));
  const probes = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  return { probes, notAsked: ordered.length - asked.length };
}

async function probe({ policy, source }: Question, registry: RegistryMeans['registry'], signal: AbortSignal): Promise<TimedProbe> {
  const about = { host: source.registry, repository: formatRepository(source), policy: policyKey(policy) };
  const deadline = startDeadline(probeMs, signal);
  const sentAt = Date.now();
  try {
    // The request counts as caused by an old event, so that a registry that counts failed logins is not asked again within its pause.
    const { isKnown, credentials, time } = await registry.probe({ ...source, causedAt: 0 }, policy.status.latest?.tag, deadline.signal);
    const halfTripMs = (Date.now() - sentAt) / 2;
    // The half second is added because a Date has whole seconds.
    const clock = time === undefined ? undefined : { aheadMs: time + 500 - (sentAt + halfTripMs), toleranceMs: 500 + halfTripMs };
    return { ...about, answer: { kind: isKnown ? 'read' : 'unknown', credentials }, ...defined({ clock }) };
  } catch (error) {
    if (deadline.signal.aborted) return { ...about, answer: { kind: 'late' } };
    return { ...about, answer: { kind: error instanceof WaitError ? 'postponed' : 'failed', why: describeError(error) } };
  } finally {
    deadline.end();
  }
}

/** The clock of each registry, from the fastest of its answers. */
export function clocksOf(probes: readonly TimedProbe[]): Clock[] {
  const best = new Map<string, Clock & { readonly toleranceMs: number }>();
  for (const { host, clock } of probes) {
    const known = best.get(host);
    if (clock === undefined || (known !== undefined && known.toleranceMs <= clock.toleranceMs)) continue;
    best.set(host, { line: 'registry', name: host, ...clock });
  }
  return [...best.values()];
}
