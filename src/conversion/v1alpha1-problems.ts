/** Reports problems of v1alpha1 policies in v1alpha1's terms. They are checked as the v1 policies that they become, so the service finds no others. */
import { mergeSpec } from './specs/convert-spec.ts';
import { readOldSpec } from './specs/old-spec.ts';
import { isObject } from '../core/model/untyped.ts';
import type { CheckContext } from '../service/resources/rules.ts';
import * as v1 from '../service/resources/v1.ts';
import * as v1alpha1 from './v1alpha1.ts';
import { formatKeys, type Keys, type Problem } from '../service/resources/validation/problem.ts';
import { specProblems } from '../service/resources/validation/spec-problems.ts';
import { withoutNulls } from '../service/resources/validation/walk-schema.ts';

/** All problems of the spec of a v1alpha1 policy. */
export function v1alpha1Problems(spec: unknown, context: CheckContext): Problem[] {
  const problems = specProblems(v1alpha1.specSchema, spec, context);
  const written = withoutNulls(spec);
  if (!isObject(written)) return problems;
  const converted = mergeSpec({}, { shown: {}, written: readOldSpec(written), namespace: context.namespace });
  const further = specProblems(v1.specSchema, converted, context).map(inV1alpha1);
  // Fields whose shape prevents the conversion are missing in v1, so their problems are reported by the v1alpha1 schema.
  return [
    ...problems,
    ...further.filter(({ path }) => !problems.some((known) => isWithin(known.path, path) || isWithin(path, known.path))),
  ];
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}.`);
}

/** A field of v1, its path in v1alpha1, and the messages that v1alpha1 words differently. */
interface Shared {
  readonly keys: Keys;
  readonly reworded?: readonly (readonly [inV1: RegExp, inV1alpha1: string])[];
}

const shared: Readonly<Record<string, Shared>> = {
  'spec.image': { keys: ['spec', 'repository'], reworded: [[/select chooses the tag$/, 'tagPolicy chooses the tag']] },
  'spec.select': {
    keys: ['spec', 'tagPolicy'],
    reworded: [
      [/^is missing.*/, 'has no strategy: write SemVer, Latest or Regex'],
      // Of the choices of v1alpha1, only Regex without a pattern selects nothing.
      [/^write exactly one of.*/, 'the strategy Regex needs a pattern, which is an RE2 expression'],
    ],
  },
  'spec.select.semver.range': {
    keys: ['spec', 'tagPolicy', 'pattern'],
    reworded: [[/leave versions out with tags\.ignore, such as .*/, 'to leave versions out, write the policy in v1, with tags.ignore']],
  },
  'spec.tags.allow': { keys: ['spec', 'tagPolicy', 'pattern'] },
  'spec.targets': {
    keys: ['spec', 'updateTarget'],
    reworded: [[/^is missing.*/, 'is missing: write the kind, name and namespace of the workload']],
  },
  'spec.targets[0]': { keys: ['spec', 'updateTarget'], reworded: [[/^write either name or selector$/, 'write the name of the workload']] },
  'spec.targets[0].kind': {
    keys: ['spec', 'updateTarget', 'kind'],
    reworded: [[/: write its apiVersion as well, as for every custom resource$/, ': for other kinds, write the policy in v1']],
  },
  'spec.targets[0].name': { keys: ['spec', 'updateTarget', 'name'] },
  'spec.targets[0].namespace': { keys: ['spec', 'updateTarget', 'namespace'] },
  'spec.poll.interval': { keys: ['spec', 'pollIntervalMinutes'], reworded: [[/.*/, 'write at least 1 and at most 527040']] },
};

/** A problem of a v1 spec in the terms of v1alpha1. A problem of a field that v1alpha1 does not have is unchanged. */
export function inV1alpha1<T extends Omit<Problem, 'keys'>>(problem: T): T {
  if (!Object.hasOwn(shared, problem.path)) return problem;
  const { keys, reworded = [] } = shared[problem.path] ?? { keys: [] };
  const message = reworded.reduce((text, [inV1, instead]) => text.replace(inV1, () => instead), problem.message);
  return { ...problem, message, path: formatKeys(keys), ...('keys' in problem && { keys }) };
}
