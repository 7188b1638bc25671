/** The additions of the wing to the API group: v1alpha1 as an older version of ImagePolicy, and the definition with both versions. */
import type { OlderVersion, WingKinds } from '../service/resources/kinds.ts';
import { apiVersion as v1 } from '../service/resources/v1.ts';
import { convertObject } from './convert.ts';
import { planCrd } from './plan-definition.ts';
import { isOfV1alpha1 } from './specs/is-expressible.ts';
import { apiVersion, specSchema, version } from './v1alpha1.ts';
import { inV1alpha1, v1alpha1Problems } from './v1alpha1-problems.ts';

export const v1alpha1: OlderVersion = {
  version,
  apiVersion,
  specSchema,
  problems: v1alpha1Problems,
  inItsWords: inV1alpha1,
  couldHaveWritten: isOfV1alpha1,
  toV1: (object) => convertObject(object, v1),
  targetKeys: () => ['spec', 'updateTarget'],
};

export const kinds: WingKinds = { olderVersions: [v1alpha1], policyDefinition: (installed) => planCrd(installed, {}) };
