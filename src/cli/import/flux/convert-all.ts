import { matchesSelector } from '../../../core/model/label-selector.ts';
import { formatRepository, sameRepository } from '../../../core/model/image-reference.ts';
import { fieldsOf } from '../../../core/model/untyped.ts';
import type { Draft, Imported, Skipped, Sources } from '../importer.ts';
import { policiesOf } from '../merge-drafts.ts';
import { type ConvertedPolicy, convertPolicy } from './convert-policy.ts';
import { findMarked } from './find-marked.ts';
import { findRunning } from './find-running.ts';
import type { FoundTarget } from './found-target.ts';
import { type FluxAutomation, type FluxPolicy, isOfFlux, keyOf, readAutomation, readFluxPolicy } from './resources.ts';

const gitRemark =
  'Flux writes images to Git, and image-watcher writes them to the cluster: what Flux applies from Git must not hold the tag (see docs/targets.md, "Who else writes there?").';

/** The policies for everything that Flux's ImagePolicies update. */
export function convertAll({ objects, areFiles }: Sources): Imported {
  const policies = objects.filter((object) => isOfFlux(object, 'ImagePolicy')).map(readFluxPolicy);
  const automations = objects.filter((object) => isOfFlux(object, 'ImageUpdateAutomation')).map(readAutomation);
  const converted = new Map<string, Known>();
  const skipped: Skipped[] = [];
  for (const policy of policies) {
    const one = convertOne(policy, objects, automations);
    if ('problem' in one) skipped.push({ object: `ImagePolicy ${keyOf(policy)}`, problem: one.problem });
    else converted.set(keyOf(policy), { policy, converted: one });
  }
  const found = areFiles ? findMarked(objects) : findRunning(objects, [...converted.values()].map(withRepository));
  const known = new Set(policies.map(keyOf));
  const drafts = found.targets.flatMap((target): Draft[] => {
    const one = converted.get(target.policyKey);
    const problem = one === undefined ? unknown(target, known) : whyNot(target, one.converted);
    if (problem !== undefined) skipped.push({ object: target.object, problem });
    return one === undefined || problem !== undefined ? [] : [draftOf(target, one)];
  });
  skipped.push(...found.skipped);
  const isNamed = new Set(found.targets.map(({ policyKey }) => policyKey));
  for (const key of converted.keys())
    if (!isNamed.has(key))
      skipped.push({
        object: `ImagePolicy ${key}`,
        problem: areFiles ? 'no marker in the files names it' : 'no workload or HelmRelease runs its image',
      });
  const merged = policiesOf(drafts);
  return { policies: merged.policies, skipped: [...skipped, ...merged.skipped], remarks: merged.policies.length > 0 ? [gitRemark] : [] };
}

interface Known {
  readonly policy: FluxPolicy;
  readonly converted: ConvertedPolicy;
}

function withRepository({ policy, converted }: Known) {
  return { policy, repository: converted.repository };
}

function convertOne(
  policy: FluxPolicy,
  objects: Sources['objects'],
  all: readonly FluxAutomation[],
): ConvertedPolicy | { readonly problem: string } {
  const repository = objects.find((object) => isOfFlux(object, 'ImageRepository') && keyOf(object) === policy.repositoryKey);
  if (repository === undefined) return { problem: `there is no ImageRepository ${policy.repositoryKey}` };
  const automations = all.filter((automation) => automation.namespace === policy.namespace && selects(automation, policy));
  const { namespace, name, value } = repository;
  const converted = convertPolicy(policy, { namespace, name, spec: fieldsOf(value['spec']) }, automations);
  if ('problem' in converted || automations.length > 0 || all.length === 0) return converted;
  return {
    ...converted,
    notes: [...converted.notes, 'No ImageUpdateAutomation selects the policy: Flux selects an image, and writes it nowhere.'],
  };
}

/** Whether an automation selects a policy. A selector of Flux without requirements selects every policy of its namespace. */
function selects({ selector }: FluxAutomation, { labels }: FluxPolicy): boolean {
  const { matchLabels, matchExpressions } = fieldsOf(selector);
  const isEmpty = Object.keys(fieldsOf(matchLabels)).length + Object.keys(fieldsOf(matchExpressions)).length === 0;
  return isEmpty || matchesSelector(fieldsOf(selector), labels);
}

function unknown({ policyKey }: FoundTarget, known: ReadonlySet<string>): string | undefined {
  return known.has(policyKey)
    ? `ImagePolicy ${policyKey} is not carried over`
    : `its marker names the ImagePolicy ${policyKey}, which is not in the files`;
}

/** Why a policy cannot update a target. A policy replaces an image only by one of the same repository; Flux replaces any image. */
function whyNot({ runs, policyKey }: FoundTarget, { repository }: ConvertedPolicy): string | undefined {
  if (runs === undefined || sameRepository(runs, repository)) return undefined;
  return `ImagePolicy ${policyKey} replaces ${formatRepository(runs)} by ${formatRepository(repository)}: set the new repository once by hand`;
}

function draftOf({ namespace, target, takesDigest, notes }: FoundTarget, { policy, converted }: Known): Draft {
  const { spec, secret } = converted;
  const isPinned = takesDigest && (converted.hasDigest || (spec.select.digest === undefined && target.fields?.digest !== undefined));
  const update = { ...spec.update, ...(isPinned && { pin: 'Digest' as const }) };
  return {
    namespace,
    name: policy.name,
    spec: { ...spec, ...(Object.keys(update).length > 0 && { update }) },
    target,
    notes: [
      ...converted.notes,
      ...(secret === undefined || secret.namespace === namespace
        ? []
        : [
            `Copy the Secret ${secret.name} from ${secret.namespace} to ${namespace}, where the policy is; or leave pullSecrets out if the pods have it.`,
          ]),
      ...notes,
    ],
  };
}
