/** The API group: ImagePolicy, and the kinds that wings add to it. */
import { fieldsOf } from '../../core/model/untyped.ts';
import { policyDefinition } from './definitions.ts';
import { apiVersion } from './group.ts';
import type { OlderVersion, WingKinds } from './kinds.ts';

/** The group with the kinds of all wings. */
export type ResourceGroup = Required<WingKinds>;

/** The group without wings: only ImagePolicy v1. */
export const policiesAlone: ResourceGroup = { kinds: [], olderVersions: [], policyDefinition };

/** The group with the kinds of these wings. */
export async function groupOf(wings: readonly { readonly kinds?: () => Promise<WingKinds> }[]): Promise<ResourceGroup> {
  const added = await Promise.all(wings.flatMap(({ kinds }) => kinds?.() ?? []));
  return {
    kinds: added.flatMap(({ kinds = [] }) => kinds),
    olderVersions: added.flatMap(({ olderVersions = [] }) => olderVersions),
    policyDefinition: added.find((one) => one.policyDefinition !== undefined)?.policyDefinition ?? policyDefinition,
  };
}

/** The older version in which an ImagePolicy is written; undefined for v1. */
export function olderVersionOf(object: unknown, olderVersions: readonly OlderVersion[]): OlderVersion | undefined {
  const { apiVersion: written } = fieldsOf(object);
  return olderVersions.find((older) => older.apiVersion === written);
}

/** An ImagePolicy in v1, as the API server would store it. */
export function asStored(object: unknown, olderVersions: readonly OlderVersion[]): Readonly<Record<string, unknown>> {
  const older = olderVersionOf(object, olderVersions);
  return older === undefined ? { ...fieldsOf(object), apiVersion } : fieldsOf(older.toV1(object));
}
