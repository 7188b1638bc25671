/** Exceptions from waits (`minAgeUnless`, `update.windowsUnless`) of policies that have no such wait, neither of their own nor by a default. Pure. */
import { isUsable, policyKey, type ImagePolicy, type PolicySpec } from '../../core/model/image-policy.ts';
import { takesDefault, type NamespaceRules, matchingDefaults } from '../../core/model/policy-defaults.ts';
import { formatKeys } from '../../service/resources/validation/problem.ts';
import type { ClusterFinding } from './cluster-findings.ts';
import type { LocatedPolicy } from './shared-warnings.ts';

/** The settings from which there are exceptions. */
type Waited = 'minAge' | 'windows';

/** Whether a setting that the policy leaves out may have a default. unread: the configuration is not known. */
export type HasDefault = (policy: ImagePolicy, setting: Waited) => boolean | 'unread';

const exceptions = [
  { setting: 'minAge', keys: ['spec', 'minAgeUnless'], why: 'has no effect without minAge: no image waits for its age' },
  {
    setting: 'windows',
    keys: ['spec', 'update', 'windowsUnless'],
    why: 'has no effect without update.windows: no image waits for a window',
  },
] as const;

/** The warnings about the exceptions of a policy, whose spec has the defaults that are known. */
export function exceptionFindings(
  { path, policy, positionOf }: LocatedPolicy,
  hasDefault: HasDefault,
): (ClusterFinding & { readonly path: string })[] {
  const { spec, namespace, name } = policy;
  if (!isUsable(spec)) return [];
  return exceptions.flatMap(({ setting, keys, why }) => {
    if (!isExempt(spec, setting) || isWaited(spec, setting)) return [];
    const open = takesDefault(spec, setting) && hasDefault(policy, setting);
    if (open === true) return [];
    const hint =
      open === 'unread'
        ? ` (known here is only the policy: name the configuration of the service with --config where policyDefaults has ${setting})`
        : '';
    const at = { ...positionOf?.(keys), policy: namespace === '' ? name : policyKey(policy), field: formatKeys(keys) };
    return [{ path, severity: 'warning', ...at, message: why + hint, reason: 'InvalidPolicy' }];
  });
}

/** The defaults by the configuration alone. Labels of Namespaces are not known, and a file without a namespace may be applied to any. */
export function defaultsIn(rules: NamespaceRules | undefined): HasDefault {
  if (rules === undefined) return () => 'unread';
  return ({ namespace }, setting) => {
    const sets = (values: NamespaceRules['cluster']) =>
      setting === 'minAge' ? values.minAge !== undefined : (values.windows?.length ?? 0) > 0;
    const perhaps = rules.namespaces.filter((one) => one.selector !== undefined || namespace === '').map(({ values }) => values);
    return [...matchingDefaults(rules, namespace, undefined), ...perhaps, rules.cluster].some(sets);
  };
}

function isExempt({ minAgeUnless, windowsUnless }: PolicySpec, setting: Waited): boolean {
  return (setting === 'minAge' ? minAgeUnless : windowsUnless) !== undefined;
}

function isWaited({ minAgeMs, windows }: PolicySpec, setting: Waited): boolean {
  return setting === 'minAge' ? minAgeMs !== undefined : windows.length > 0;
}
