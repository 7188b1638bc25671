/** The API group: ImagePolicy, and what wings add to it. */
import { fieldsOf } from '../../core/model/untyped.ts';
import { policyDefinition } from './definitions.ts';
import { apiVersion } from './group.ts';
import type { OlderVersion, WingKinds } from './kinds.ts';

/** The group with what all wings add. */
export type ResourceGroup = Required<WingKinds>;

/** Without wings: ImagePolicy v1 alone. */
export const policiesAlone: ResourceGroup = { kinds: [], olderVersions: [], policyDefinition };

/** The group with what these wings add. */
export async function groupOf(wings: readonly { readonly kinds?: () => Promise<WingKinds> }[]): Promise<ResourceGroup> {
  const added = await Promise.all(wings.flatMap(({ kinds }) => kinds?.() ?? []));
  return {
    kinds: added.flatMap(({ kinds = [] }) => kinds),
    olderVersions: added.flatMap(({ olderVersions = [] }) => olderVersions),
    policyDefinition: added.find((one) => one.policyDefinition !== undefined)?.policyDefinition ?? policyDefinition,
  };
}

/** The older version that an ImagePolicy is written in; undefined for v1. */
export function olderVersionOf(object: unknown, olderVersions: readonly OlderVersion[]): OlderVersion | undefined {
  const { apiVersion: written } = fieldsOf(object);
  return olderVersions.find((older) => older.apiVersion === written);
}

/** An ImagePolicy as the API server would store it: in v1. */
export function asStored(object: unknown, olderVersions: readonly OlderVersion[]): Readonly<Record<string, unknown>> {
  const older = olderVersionOf(object, olderVersions);
  return older === undefined ? { ...fieldsOf(object), apiVersion } : fieldsOf(older.toV1(object));
}
