/** What keeps policies that follow others from ever changing anything, as far as the text of the policies says it. Pure. */
import { formatKeys, type Keys } from '../../service/resources/validation/problem.ts';
import { consentAnnotation } from '../../core/model/consent-annotation.ts';
import { isUsable, policyKey, type ImagePolicy, type PolicyName } from '../../core/model/image-policy.ts';
import { maySee, whyCircular, whyNeverShown } from '../../core/plan/proven.ts';
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
    const [circle] = whyCircular(policy, spec.after, { findPolicy }) ?? [];
    if (circle?.message !== undefined) return [at(place, { severity: 'problem', message: circle.message, reason: 'NotProven' })];
    return spec.after.policies.flatMap((name, index) => {
      const found = judge(policy, name, findPolicy(name.namespace, name.name), others !== undefined);
      return found === undefined ? [] : [at([...place, index], found)];
    });
  });
}

/** What is wrong with one followed policy. */
function judge(follower: ImagePolicy, name: PolicyName, followed: ImagePolicy | undefined, isCluster: boolean): Found | undefined {
  const own = nameOf(name);
  if (followed === undefined) {
    const where = isCluster ? 'neither in the files nor in the cluster, as far as you may list it' : 'not in these files';
    return { severity: 'warning', message: `${own} is ${where}: nothing is proven until it exists`, reason: 'NotProven' };
  }
  const { spec } = followed;
  if (!isUsable(spec)) return undefined;
  const never = whyNeverShown(spec);
  if (never !== undefined) return { severity: 'problem', message: `${own} never shows what it runs: ${never}`, reason: 'NotProven' };
  // Without a namespace, a manifest may be applied to any.
  const isElsewhere = follower.namespace !== '' && !maySee(follower, followed, noNamespaces);
  const hint = `annotate it, or its Namespace, with ${consentAnnotation}: "${follower.namespace}"`;
  return isElsewhere
    ? { severity: 'warning', message: `${own} is of another namespace, and does not consent itself: ${hint}`, reason: 'NoConsent' }
    : undefined;
}

/** What Namespaces say is not known here. */
const noNamespaces = { crossNamespace: 'consent', namespaceConsent: () => undefined } as const;

function nameOf({ namespace, name }: PolicyName): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
