/** Asks what is known of the vulnerabilities of an image, and of those that it would replace. What that decides is in `core/plan/security-rules.ts`. */
import { isDeepStrictEqual } from 'node:util';
import { maxCompared, type Assessment } from '../../core/model/assessment.ts';
import { WaitError } from '../../core/model/errors.ts';
import { tryParseImageReference, type Candidate } from '../../core/model/image-reference.ts';
import { noEvidence, type Evidence } from '../../core/model/vulnerabilities.ts';
import { assessVulnerabilities } from '../../core/plan/assess-vulnerabilities.ts';
import { digestsOfTags } from '../../core/plan/past.ts';
import { isSameImage } from '../../core/plan/pending-candidate.ts';
import type { UpdatePlan } from '../../core/plan/plan-update.ts';
import type { Reconcile } from './attempt.ts';
import { createQuestions, type KnownAnswers, type Questions } from './known-answers.ts';
import { propose } from './plan.ts';
import type { Ports } from './ports.ts';
import type { Selected, Selection } from './selection.ts';

export type AssessPorts = Pick<Ports, 'registry' | 'vulnerabilities'>;

/** What the sources of evidence, and the registry for the tags of running images, have answered. */
export interface KnownEvidence {
  readonly evidence: KnownAnswers<Evidence>;
  /** The namespaces whose reports were read. */
  readonly namespaces: readonly string[];
  /** The digests of tags; undefined for one that could not be asked for. */
  readonly tags: KnownAnswers<string | undefined>;
}

/** What else an assessment depends on. */
export interface Asking {
  readonly pending: Candidate | undefined;
  /** The evidence that earlier attempts have read. */
  readonly known: KnownEvidence | undefined;
  /** When the registry had answered, in ms since 1970. */
  readonly answeredAt: number;
  /** Whether sources may be asked, which may take minutes. */
  readonly mayAsk: boolean;
}

/** A selection with its assessments; `evidence` is absent if it needs none. `isComplete`: nothing that had to be asked was left out. */
export interface Assessed extends Pick<Selected, 'selection' | 'answeredAt'> {
  readonly evidence?: KnownEvidence;
  readonly isComplete: boolean;
}

/**
 * The selection with what is known of the vulnerabilities of its image and of the pending one, if the policy asks for evidence of them and they would replace
 * anything. A user who asks to roll back has decided already. Each digest is asked for once; of the replaced images, only the first few are.
 */
export async function assess(reconcile: Reconcile, selection: Selection, asking: Asking, ports: AssessPorts): Promise<Assessed> {
  const { policy, cluster } = reconcile;
  const { spec, candidate, basis } = selection;
  const { pending, answeredAt } = asking;
  if (spec.vulnerabilities === undefined || basis === 'UserRequest') return { selection, answeredAt, isComplete: true };
  const images = pending === undefined || isSameImage(pending, candidate) ? [candidate] : [candidate, pending];
  const plans = images.map((image) => propose(policy, { ...selection, candidate: image }, cluster).plan);
  const namespaces = targetNamespaces(plans);
  const questions = createSources(reconcile, { selection, namespaces, asking }, ports);
  const found = await Promise.all(plans.map((plan) => assessPlan(plan, { reconcile, selection, ...questions })));
  const assessments = found.flatMap((one) => (one === undefined ? [] : [keepTime(one, policy.status.vulnerabilities)]));
  const nowMs = cluster.now();
  const [evidence, tags] = [questions.evidence.answers(nowMs), questions.tags.answers(nowMs)];
  return {
    selection: { ...selection, assessments },
    evidence: { evidence, namespaces, tags },
    answeredAt: Math.min(answeredAt, ...[...evidence.values(), ...tags.values()].map(({ at }) => at)),
    isComplete: questions.evidence.isComplete() && questions.tags.isComplete(),
  };
}

interface Sources {
  /** The evidence of images, by their digests. */
  readonly evidence: Questions<Evidence>;
  /** The digests of tags. */
  readonly tags: Questions<string | undefined>;
}

interface Assessing extends Sources {
  readonly reconcile: Reconcile;
  readonly selection: Selection;
}

/** The assessment of the candidate of a plan; undefined if its digest is not known, or if it replaces nothing. */
async function assessPlan(
  plan: UpdatePlan,
  { reconcile, selection: { spec }, evidence, tags }: Assessing,
): Promise<Assessment | undefined> {
  const { tag, digest } = plan.candidate;
  const replaced = replacedImages(plan);
  if (spec.vulnerabilities === undefined || digest === undefined || replaced.length === 0) return undefined;
  const digests = await digestsOf(replaced.slice(0, maxCompared), reconcile, tags);
  const read = async (one: string | undefined) => (one === undefined ? undefined : await evidence.ask(one)) ?? noEvidence;
  const [own, ...others] = await Promise.all([read(digest), ...digests.map((one) => read(one.digest))]);
  return assessVulnerabilities({
    candidate: { tag, digest, evidence: own },
    running: replaced.map((image, index) => ({ image, ...digests[index], evidence: others[index] ?? noEvidence })),
    maxAgeMs: spec.vulnerabilities.maxAgeMs,
    nowMs: reconcile.cluster.now(),
  });
}

/** The images that a plan replaces, each once. Where only companions are changed, the own image stays. */
function replacedImages({ targets }: UpdatePlan): readonly string[] {
  return [...new Set(targets.flatMap(({ changes }) => changes.flatMap(({ from, to }) => (from === to ? [] : [from]))))];
}

/** The namespaces of the workloads that would be changed. The policy may see no others. */
function targetNamespaces(plans: readonly UpdatePlan[]): readonly string[] {
  const changed = plans.flatMap(({ targets }) => targets.filter(({ changes }) => changes.length > 0));
  return [...new Set(changed.map(({ target }) => target.namespace))].toSorted();
}

/**
 * The digests of running images: as they are written, as the policy has applied them under their tag, or those of their tags now, which whoever may push can move.
 * The records of workloads do not count, because who may write a workload must not choose with what an image is compared.
 */
async function digestsOf(
  images: readonly string[],
  { policy }: Reconcile,
  tags: Sources['tags'],
): Promise<readonly { readonly digest?: string; readonly byTag?: true }[]> {
  const { latest, ...status } = policy.status;
  const applied = digestsOfTags({ ...policy, status }, []);
  return Promise.all(
    images.map(async (image) => {
      const written = tryParseImageReference(image);
      if (written === undefined) return {};
      const { tag = 'latest', digest = applied.get(tag) } = written;
      if (digest !== undefined) return { digest };
      const found = latest?.tag === tag && latest.digest !== undefined ? latest.digest : await tags.ask(tag);
      return found === undefined ? {} : { digest: found, byTag: true };
    }),
  );
}

/** Creates the sources of an assessment: evidence, digests and times. */
function createSources(
  { policy, cluster, signal }: Reconcile,
  {
    selection: { spec },
    namespaces,
    asking,
  }: { readonly selection: Selection; readonly namespaces: readonly string[]; readonly asking: Asking },
  { registry, vulnerabilities }: AssessPorts,
): Sources {
  const { known, mayAsk } = asking;
  const { vulnerabilities: rules } = spec;
  const source = registry.sourceOf(policy, spec);
  const readEvidence = async (digest: string) =>
    rules === undefined
      ? noEvidence
      : vulnerabilities.read({ source, digest, rules, namespace: policy.namespace, targetNamespaces: namespaces }, signal);
  const findDigest = async (tag: string) => {
    const head = await registry.headManifest(source, tag, signal).catch((error: unknown) => {
      if (error instanceof WaitError || signal.aborted) throw error;
      return undefined;
    });
    return head?.digest;
  };
  const nowMs = cluster.now();
  const isSame = isDeepStrictEqual(known?.namespaces, namespaces);
  return {
    evidence: createQuestions((isSame && known?.evidence) || new Map(), nowMs, mayAsk ? readEvidence : undefined),
    tags: createQuestions(known?.tags ?? new Map(), nowMs, mayAsk ? findDigest : undefined),
  };
}

/** The assessment with the time when it was made first, if it is the same since: otherwise each reconcile would write the status. */
function keepTime(found: Assessment, known: readonly Assessment[] = []): Assessment {
  const before = known.find(({ digest }) => digest === found.digest);
  return before !== undefined && isDeepStrictEqual({ ...found, at: before.at }, before) ? before : found;
}
