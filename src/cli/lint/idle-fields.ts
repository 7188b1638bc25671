/** Finds fields of a policy of either version that have no effect beside its other fields. What the schema or a rule refuses is not repeated here. */
import { isObject } from '../../core/model/untyped.ts';
import { has } from '../../service/resources/rules.ts';
import { problem, valueAt, type Keys, type Problem } from '../../service/resources/validation/problem.ts';

/** A field without effect, and why. */
type Idle = readonly [keys: Keys, why: string];

/** The fields that have no effect. */
export function idleFields(document: unknown): Problem[] {
  const found = [...selectionFields(document), ...rolloutFields(document), ...checkFields(document), ...baseFields(document)];
  return found.map(([keys, why]) => problem(keys, `has no effect: ${why}`));
}

/** Fields about names of tags, where names decide nothing. */
function selectionFields(document: unknown): Idle[] {
  const select = valueAt(document, ['spec', 'select']);
  const isSet = (...keys: string[]) => valueAt(document, ['spec', ...keys]) !== undefined;
  const named = ['digest', 'replace'].find((way) => has(select, way));
  const isDowngrade = valueAt(document, ['spec', 'update', 'allowDowngrade']) === true;
  const isLatest = valueAt(document, ['spec', 'tagPolicy', 'strategy']) === 'Latest';
  return [
    ...(named !== undefined && isDowngrade
      ? [[['spec', 'update', 'allowDowngrade'], `select.${named} names its tag, and no tag is older than another one`] as const]
      : []),
    ...(has(select, 'digest') && isSet('tags')
      ? [[['spec', 'tags'], 'select.digest names the only tag that is followed: remove tags'] as const]
      : []),
    ...(has(select, 'newest') && isSet('tags', 'extract')
      ? [
          [
            ['spec', 'tags', 'extract'],
            'select.newest compares when images were created, and no part of their tags: remove extract',
          ] as const,
        ]
      : []),
    ...(isLatest && isSet('tagPolicy', 'pattern')
      ? [[['spec', 'tagPolicy', 'pattern'], 'the strategy Latest follows the tag "latest" alone: remove pattern'] as const]
      : []),
  ];
}

/** What the API server writes into the fields of `rollout` that are not written. */
const rolloutDefaults = { timeout: '10m', onFailure: 'Rollback' } as const;

/** Fields about failed rollouts, where rollouts are not watched. */
function rolloutFields(document: unknown): Idle[] {
  if (valueAt(document, ['spec', 'rollout', 'watch']) !== false) return [];
  const isStored = valueAt(document, ['metadata', 'uid']) !== undefined;
  return (['timeout', 'onFailure'] as const).flatMap((name): Idle[] => {
    const keys = ['spec', 'rollout', name];
    const value = valueAt(document, keys);
    const isDefault = isStored && value === rolloutDefaults[name];
    // What is ignored is also not watched: both say the same.
    if (value === undefined || value === 'Ignore' || isDefault) return [];
    return [[keys, 'with watch: false, nobody finds out that a rollout fails: remove it, or watch: false']];
  });
}

/** The number of bad answers that are forgiven, of checks that are asked once. */
function checkFields(document: unknown): Idle[] {
  const checks = valueAt(document, ['spec', 'rollout', 'checks']);
  return (Array.isArray(checks) ? checks : []).flatMap((check: unknown, index): Idle[] => {
    const retries = valueAt(check, ['retries']);
    if (typeof retries !== 'number' || retries === 0) return [];
    const keys = ['spec', 'rollout', 'checks', index, 'retries'];
    if (has(check, 'job')) return [[keys, 'a Job that has failed stays so: write backoffLimit in the CronJob instead']];
    return has(check, 'analysis')
      ? [[keys, 'an AnalysisRun that has failed stays so: write failureLimit in the AnalysisTemplate instead']]
      : [];
  });
}

/** When and in which order a BaseImagePolicy changes workloads, where it only reports. */
function baseFields(document: unknown): Idle[] {
  if (valueAt(document, ['kind']) !== 'BaseImagePolicy') return [];
  const actions = valueAt(document, ['spec', 'onNewBase']);
  const isOnlyReported = actions === undefined || (Array.isArray(actions) && actions.every((one) => isObject(one) && has(one, 'report')));
  if (!isOnlyReported) return [];
  return ['waves', 'windows'].flatMap((name): Idle[] =>
    valueAt(document, ['spec', name]) === undefined
      ? []
      : [[['spec', name], 'onNewBase only reports: write what is to be done, such as rebase: {}']],
  );
}
