/** What keeps policies that follow others from ever changing anything, as far as the text of the policies says it. Pure. */
import { formatKeys, type Keys } from '../../service/resources/validation/problem.ts';
import { consentAnnotation } from '../../core/model/consent-annotation.ts';
import { isUsable, policyKey, type ImagePolicy, type PolicyName } from '../../core/model/image-policy.ts';
import { findNeverProven, type NeverProven } from '../../core/plan/never-proven.ts';
import { maySee } from '../../core/plan/proven.ts';
import type { LintProblem } from './lint-text.ts';
import type { LocatedPolicy } from './shared-warnings.ts';

/** A finding, and the file that contains the policy. */
export interface FollowFinding {
  readonly path: string;
  readonly severity: 'problem' | 'warning';
  readonly finding: LintProblem;
}

type Found = Pick<FollowFinding, 'severity'> & Pick<LintProblem, 'message' | 'reason'>;

/** The findings about policies that follow others. `others` are policies of the cluster; without them, what is not in the files may be elsewhere. */
export function followFindings(all: readonly LocatedPolicy[], others?: readonly ImagePolicy[]): readonly FollowFinding[] {
  const known = new Map([...(others ?? []), ...all.map(({ policy }) => policy)].map((policy) => [policyKey(policy), policy]));
  const findPolicy = (namespace: string, name: string) => known.get(policyKey({ namespace, name }));
  return all.flatMap(({ path, policy, positionOf }) => {
    const { spec } = policy;
    if (!isUsable(spec) || spec.after === undefined) return [];
    const place = ['spec', ...(spec.strategy.isProven === true ? ['select', 'proven'] : ['update', 'after']), 'policies'];
    const at = (keys: Keys, { severity, ...found }: Found): FollowFinding => {
      const finding = { ...positionOf?.(keys), policy: nameOf(policy), field: formatKeys(keys), ...found };
      return { path, severity, finding };
    };
    const never = findNeverProven(policy, { findPolicy, ...everybody });
    return [
      ...never.map((found) => at(found.kind === 'Circle' ? place : [...place, found.index], inWords(found, others !== undefined))),
      ...spec.after.policies.flatMap((name, index) => {
        const followed = never.every((one) => one.kind !== 'Circle' && one.index !== index)
          ? findPolicy(name.namespace, name.name)
          : undefined;
        // Without a namespace, a manifest may be applied to any.
        const isSeen = followed === undefined || policy.namespace === '' || maySee(policy, followed, noNamespaces);
        return isSeen ? [] : [at([...place, index], noConsent(policy, name))];
      }),
    ];
  });
}

function inWords({ kind, followed, message }: NeverProven, isCluster: boolean): Found {
  const own = nameOf(followed);
  if (kind === 'Missing') {
    const where = isCluster ? 'neither in the files nor in the cluster, as far as you may list it' : 'not in these files';
    return { severity: 'warning', message: `${own} is ${where}: nothing is proven until it exists`, reason: 'NotProven' };
  }
  return { severity: 'problem', message: kind === 'Circle' ? message : `${own} never shows what it runs: ${message}`, reason: 'NotProven' };
}

function noConsent({ namespace }: ImagePolicy, followed: PolicyName): Found {
  const hint = `annotate it, or its Namespace, with ${consentAnnotation}: "${namespace}"`;
  const message = `${nameOf(followed)} is of another namespace, and does not consent itself: ${hint}`;
  return { severity: 'warning', message, reason: 'NoConsent' };
}

/** The author of files sees all of them. */
const everybody = { crossNamespace: 'allow', namespaceConsent: () => undefined } as const;
/** What Namespaces say is not known here. */
const noNamespaces = { crossNamespace: 'consent', namespaceConsent: () => undefined } as const;

function nameOf({ namespace, name }: PolicyName): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
