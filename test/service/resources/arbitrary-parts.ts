/** What the arbitraries of ImagePolicy are made of. */
import fc from 'fast-check';

/** Realistic values, and any others of that length. */
export function text(maxLength: number, ...samples: string[]): fc.Arbitrary<string> {
  const any = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: Math.min(maxLength, 24) })
    .filter((value) => value.length <= maxLength);
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...samples) }, { weight: 1, arbitrary: any });
}

/** Realistic values, and any others that a pattern of the schema lets pass. */
export function matching(pattern: RegExp, ...samples: string[]): fc.Arbitrary<string> {
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...samples) }, { weight: 1, arbitrary: fc.stringMatching(pattern) });
}

/** Each field by itself there or not; JSON as it comes from the API server, without prototypes to tell it from. */
export function some<T extends object>(
  fields: { [K in keyof T]: fc.Arbitrary<T[K]> },
  required: (keyof T)[] = [],
): fc.Arbitrary<Partial<T>> {
  return fc.record(fields, { requiredKeys: required, noNullPrototype: true });
}

export const list = <T>(item: fc.Arbitrary<T>, minLength = 0, maxLength = 3) => fc.array(item, { minLength, maxLength });

const time = fc.stringMatching(/^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/);
const days = fc.uniqueArray(fc.constantFrom('Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'), { minLength: 1 });
const window = some({ days, from: time, to: time, timeZone: text(64, 'Europe/Berlin', 'UTC') }, ['from', 'to']).filter(
  ({ from, to }) => from !== to,
);
/** Windows of a policy. */
export const windows = list(window);

/** A resource of each kind that installs charts or other artifacts, with its fields. */
export const chartTarget = fc
  .tuple(
    fc.constantFrom(
      { apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', fields: { tag: 'spec.sources[1].targetRevision' } },
      { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', fields: { tag: 'spec.template.spec.source.targetRevision' } },
      { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'OCIRepository', fields: { tag: 'spec.ref.tag', digest: 'spec.ref.digest' } },
      { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease', fields: { tag: 'spec.chart.spec.version' } },
      { apiVersion: 'helm.cattle.io/v1', kind: 'HelmChart', fields: { tag: 'spec.version' } },
    ),
    fc.constantFrom('web', 'api'),
  )
  .map(([target, name]) => ({ ...target, name }));

const fieldPath = matching(
  /^[A-Za-z_][A-Za-z0-9_-]{0,9}(?:\[[0-9]{1,4}\]|\.[A-Za-z0-9_-]{1,9}){0,3}$/,
  'spec.values.image.tag',
  'spec.image',
);
/** The fields of a target. */
export const fields = fc.oneof(
  some({ image: fieldPath }, ['image']),
  some({ repository: fieldPath, tag: fieldPath, digest: fieldPath }, ['tag']),
  some({ repository: fieldPath, digest: fieldPath }, ['digest']),
);
