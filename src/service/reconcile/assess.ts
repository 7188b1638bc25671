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
import { propose } from './plan.ts';
import type { Ports } from './ports.ts';
import type { Selection } from './selection.ts';

export type AssessPorts = Pick<Ports, 'registry' | 'vulnerabilities'>;

/**
 * The selection with what is known of the vulnerabilities of its image and of the pending one, if the policy asks for evidence of them and they would replace
 * anything. A user who asks to roll back has decided already. Each digest is asked for once; of the replaced images, only the first few are.
 */
export async function withAssessments(
  reconcile: Reconcile,
  selection: Selection,
  pending: Candidate | undefined,
  ports: AssessPorts,
): Promise<Selection> {
  const { policy, cluster } = reconcile;
  const { spec, candidate, basis } = selection;
  if (spec.vulnerabilities === undefined || basis === 'UserRequest') return selection;
  const images = pending === undefined || isSameImage(pending, candidate) ? [candidate] : [candidate, pending];
  const plans = images.map((image) => propose(policy, { ...selection, candidate: image }, cluster).plan);
  const read = createReader(reconcile, selection, targetNamespaces(plans), ports);
  const found = await Promise.all(plans.map((plan) => assessPlan(plan, { reconcile, selection, read, ports })));
  const assessments = found.flatMap((one) => (one === undefined ? [] : [keepTime(one, policy.status.vulnerabilities)]));
  return { ...selection, assessments };
}

type Read = (digest: string | undefined) => Promise<Evidence>;

interface Assessing {
  readonly reconcile: Reconcile;
  readonly selection: Selection;
  readonly read: Read;
  readonly ports: AssessPorts;
}

/** The assessment of the candidate of a plan; undefined if its digest is not known, or if it replaces nothing. */
async function assessPlan(plan: UpdatePlan, { reconcile, selection: { spec }, read, ports }: Assessing): Promise<Assessment | undefined> {
  const { tag, digest } = plan.candidate;
  const replaced = replacedImages(plan);
  if (spec.vulnerabilities === undefined || digest === undefined || replaced.length === 0) return undefined;
  const digests = await digestsOf(replaced.slice(0, maxCompared), reconcile, ports);
  const [evidence, ...others] = await Promise.all([read(digest), ...digests.map((one) => read(one.digest))]);
  return assessVulnerabilities({
    candidate: { tag, digest, evidence },
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
  { policy, spec, signal }: Reconcile,
  { registry }: AssessPorts,
): Promise<readonly { readonly digest?: string; readonly byTag?: true }[]> {
  const { latest, ...status } = policy.status;
  const applied = digestsOfTags({ ...policy, status }, []);
  const source = registry.sourceOf(policy, spec);
  return Promise.all(
    images.map(async (image) => {
      const written = tryParseImageReference(image);
      if (written === undefined) return {};
      const { tag = 'latest', digest = applied.get(tag) } = written;
      if (digest !== undefined) return { digest };
      if (latest?.tag === tag && latest.digest !== undefined) return { digest: latest.digest, byTag: true };
      const head = await registry.headManifest(source, tag, signal).catch((error: unknown) => {
        if (error instanceof WaitError || signal.aborted) throw error;
        return undefined;
      });
      return head === undefined ? {} : { digest: head.digest, byTag: true };
    }),
  );
}

function createReader(
  { policy, signal }: Reconcile,
  { spec }: Selection,
  namespaces: readonly string[],
  { registry, vulnerabilities }: AssessPorts,
): Read {
  const { vulnerabilities: rules } = spec;
  const answers = new Map<string, Promise<Evidence>>();
  return async (digest) => {
    if (digest === undefined || rules === undefined) return noEvidence;
    const source = registry.sourceOf(policy, spec);
    const request = { source, digest, rules, namespace: policy.namespace, targetNamespaces: namespaces };
    const answer = answers.get(digest) ?? vulnerabilities.read(request, signal);
    answers.set(digest, answer);
    return answer;
  };
}

/** The assessment with the time when it was made first, if it is the same since: otherwise each reconcile would write the status. */
function keepTime(found: Assessment, known: readonly Assessment[] = []): Assessment {
  const before = known.find(({ digest }) => digest === found.digest);
  return before !== undefined && isDeepStrictEqual({ ...found, at: before.at }, before) ? before : found;
}
