/** The stage `verify`: checks that the image that is about to be applied has the signatures that the policy demands. */
import { consentTo, type ConsentRules } from '../../core/plan/consent.ts';
import { hasChanges, wantsChange, type UpdatePlan } from '../../core/plan/plan-update.ts';
import { defined } from '../../core/model/defined.ts';
import { PermanentError } from '../../core/model/errors.ts';
import { isUsable, policyKey, type ImagePolicy, type PolicySpec } from '../../core/model/image-policy.ts';
import { wholeDigest } from '../../core/model/companions.ts';
import { formatRepository, type Candidate, type ImageReference, type Repository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { matchesTarget } from '../../core/model/resolve-target.ts';
import type { Verification } from '../../core/model/verification.ts';
import type { Workload } from '../../core/model/workload.ts';
import type { Attempt, Reconcile, StartAgain } from './attempt.ts';
import { demandSignatures, notUsed } from './demand-signatures.ts';
import type { Planned } from './plan.ts';
import type { Policies, Ports, ResolveTag } from './ports.ts';
import { formatTag } from './resolve-tag.ts';

export type VerifyPorts = Pick<Ports, 'registry' | 'signatures' | 'policies'>;

/**
 * Lets a plan pass if its image is verified or need not be. The policy's author chooses the registry, which may be slow: after its answer, the reconcile starts
 * again, so that policy and consents are read later. Before the mutex is held, nothing may be applied, so the reconcile starts again in any case.
 */
export async function verify(attempt: Attempt, planned: Planned, ports: VerifyPorts): Promise<Planned | StartAgain> {
  const { progress } = attempt;
  const { selected, decision, plan } = planned;
  const isVerified = progress.verified !== undefined && progress.verified === wholeDigest(plan.candidate);
  const verified = decision.apply === undefined || isVerified ? undefined : await verifyCandidate(attempt, planned, ports);
  if (progress.selected === undefined) return { again: 'Prepared', progress: { ...progress, selected, verified } };
  return verified === undefined ? planned : { again: 'Verified', progress: { ...progress, selected, verified } };
}

/**
 * The digest of a plan's candidate, or of its set, once all images of it were verified; undefined for a plan that changes nothing, which is not verified. Throws a WaitError for some minutes
 * if the image is not signed, because signatures follow their image, then a PermanentError. Wrong signatures: PermanentError.
 */
async function verifyCandidate(
  { policy, request, cluster, signal }: Attempt,
  { selected, plan }: Planned,
  ports: VerifyPorts,
): Promise<string | undefined> {
  const { spec } = selected.selection;
  if (!hasChanges(plan)) return undefined;
  const demands = demandsOn(policy, spec, { plan, cluster, policies: ports.policies });
  // What was assessed must be what runs, as what was verified.
  const isAssessed = spec.vulnerabilities !== undefined && spec.pin === 'Tag' && plan.candidate.digest !== undefined;
  if (demands.length === 0 && !isAssessed) return undefined;
  // An image that waits for its companions is verified with them.
  if (plan.candidate.missing !== undefined) return undefined;
  const image = { tag: plan.candidate.tag, ...defined({ digest: plan.candidate.digest }) };
  for (const { repository, tag, digest } of imagesToVerify(plan.candidate, spec)) {
    const name = formatTag(repository, tag);
    // The running images changed after the selection. The next try asks for the digest.
    if (digest === undefined) throw new Error(`${name} has to be verified, and its digest was not asked for`);
    const source = ports.registry.sourceOf(policy, { ...spec, repository });
    for (const { verification, by } of demands) {
      const others = by === policy ? {} : { by: `ImagePolicy ${policyKey(by)} has the same target and demands signatures: ` };
      const nowMs = cluster.now();
      // The image could have been signed since the push, or since another cause of the reconcile.
      const { sinceMs = nowMs } = request;
      const demand = { source, name, digest, tag, image, verification, namespace: by.namespace, policy, sinceMs, nowMs, ...others };
      await demandSignatures(demand, ports.signatures, signal);
    }
    if (spec.pin === 'Tag') await checkTag(source, { tag, digest }, ports.registry.headManifest, signal);
  }
  return wholeDigest(plan.candidate);
}

/** The images that are applied together: the candidate and its companions. */
function imagesToVerify(
  { tag, digest, companions = [] }: Candidate,
  { repository, alongside }: PolicySpec,
): { readonly repository: Repository; readonly tag: string; readonly digest: string | undefined }[] {
  const beside = companions.flatMap((one) => {
    const rule = alongside?.images.find((known) => formatRepository(known.repository) === one.image);
    return rule === undefined ? [] : [{ repository: rule.repository, tag: one.tag, digest: one.digest }];
  });
  return [{ repository, tag, digest }, ...beside];
}

/** Signatures that an image must have, and the policy that demands them. The keys are in that policy's namespace. */
interface Demand {
  readonly verification: Verification;
  readonly by: ImagePolicy;
}

/**
 * The demands of the policy itself. A policy that replaces a tag changes images that are not its own, so the demands of its targets' other policies apply as
 * well, if these may change the workload: a rebased image would otherwise run without the signatures that the application's own policy demands. The replaced
 * tag has run before, so a rollback to it does not need them.
 */
function demandsOn(
  policy: ImagePolicy,
  { verification, strategy, repository }: PolicySpec,
  { plan, cluster, policies }: { readonly plan: UpdatePlan; readonly cluster: ConsentRules; readonly policies: Pick<Policies, 'match'> },
): Demand[] {
  const own = verification === undefined ? [] : [{ verification, by: policy }];
  if (strategy.replaces === undefined || strategy.replaces === plan.candidate.tag) return own;
  const changed = plan.targets.flatMap((target) => (wantsChange(target) && target.workload !== undefined ? [target.workload] : []));
  const others = policies.match(repository).flatMap((by): Demand[] => {
    if (by.uid === policy.uid || !isUsable(by.spec) || by.spec.verification === undefined) return [];
    const { targets, verification } = by.spec;
    const isOfTarget = (workload: Workload) =>
      targets.some((target) => matchesTarget(target, workload)) && consentTo(workload, by, cluster).granted;
    return changed.some(isOfTarget) ? [{ verification, by }] : [];
  });
  return [...own, ...others];
}

/**
 * Demands the signatures of an earlier image of the repository, by its digest or by what its tag points to now. It may have run before signatures were
 * demanded, or may no longer be trusted. Throws PermanentError if they are missing, without a wait.
 */
export async function verifyEarlier(
  { policy, spec, signal }: Pick<Reconcile, 'policy' | 'spec' | 'signal'>,
  image: ImageReference,
  ports: Pick<VerifyPorts, 'registry' | 'signatures'>,
): Promise<void> {
  const { verification } = spec;
  if (verification === undefined) return;
  const { name, repository, tag = 'latest', digest: pinned } = image;
  const source = ports.registry.sourceOf(policy, { ...spec, repository });
  const digest = pinned ?? (await ports.registry.headManifest(source, tag, signal))?.digest;
  if (digest === undefined) throw new PermanentError('TagNotFound', `${name}:${tag} is not in the registry any more`);
  const result = await ports.signatures.verify(
    { source, digest, ...defined({ tag: image.tag }), verification, namespace: policy.namespace },
    signal,
  );
  if (result.kind === 'invalid') throw notUsed({ name: `${name}:${tag}`, digest }, result.why);
  if (result.kind === 'unsigned') throw new PermanentError('NotSigned', `${name}:${tag} (${digest}) is not signed: ${result.why}`);
  if (pinned === undefined) await checkTag(source, { tag, digest }, ports.registry.headManifest, signal);
}

/** Checks, as late as possible, that a tag which is written without its digest points to the verified digest. */
async function checkTag(source: ImageSource, { tag, digest }: Candidate, headManifest: ResolveTag, signal: AbortSignal): Promise<void> {
  const head = await headManifest(source, tag, signal);
  if (head?.digest === digest) return;
  throw new Error(`${formatTag(source, tag)} moved from ${digest}, which was verified, to ${head?.digest ?? 'nothing'}`);
}
